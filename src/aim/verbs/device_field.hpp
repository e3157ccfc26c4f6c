#pragma once

#include "core/fields.hpp"
#include "core/prose.hpp"
#include "onset/device/kind.hpp"

namespace onset::aim {

/// The field `device` of verbs whose large products a device can compute.
template <class Request>
void add_device(Fields<Request>& fields) {
  using device::DeviceKind;
  fields.add_word("device", &Request::device,
                  {DeviceKind::cpu, DeviceKind::gpu, DeviceKind::automatic}, prose(R"(
      Where the large products are computed: on the processor, on a GPU by a plug-in, or on the GPU
      where there is one. The data are the same bits on both; results differ by rounding.)"));
}

}  // namespace onset::aim
