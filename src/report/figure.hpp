#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "report/figure_data.hpp"
#include "report/figure_spec.hpp"

namespace onset::report {

/// The figure files (*.toml) of the folders, sorted by id; if two have the same id, the first
/// folder's counts.
[[nodiscard]] std::vector<std::filesystem::path> list_figures(
    const std::vector<std::filesystem::path>& folders);

/// The file of a figure: `name` itself when it ends in .toml, else the first folder/name.toml.
/// Throws InvalidArgument with the nearest id when there is none.
[[nodiscard]] std::filesystem::path find_figure(const std::string& name,
                                                const std::vector<std::filesystem::path>& folders);

struct FigureFiles {
  std::vector<std::filesystem::path>
      pictures;                             ///< ID.svg, ID.pdf and ID.png; none when interrupted
  std::vector<std::filesystem::path> data;  ///< one CSV file per run
  std::vector<std::string> notes;           ///< remarks for people
};

/// Where and with what a figure is drawn.
struct DrawOptions {
  std::filesystem::path folder;   ///< made when it is not there
  std::filesystem::path overlay;  ///< folder with other people's CSV files; empty for no overlays
  FigureOptions computed;         ///< for the manifest
  std::string simd;               ///< instruction set, for the manifest
  std::stop_token stop{};         ///< ends the drawing
};

/// The name of a figure's store, which lies beside its data so that an interrupted one resumes.
[[nodiscard]] std::string store_name(const FigureSpec& spec);

/// Makes the folder and checks that everything of the figure, its store included, can be written
/// there. Throws IoError naming the path, for links and devices too.
void prepare_figure_folder(const FigureSpec& spec, const std::filesystem::path& folder);

/// Writes the data (RUN.csv), the drawing (ID.gp, ID.svg, ID.pdf, ID.png) and manifest.json. Data
/// is written before anything is drawn, so that it is there when gnuplot is not. Throws IoError,
/// DrawingFailed, and Interrupted when a stop is requested while gnuplot is at work.
[[nodiscard]] FigureFiles write_figure(const FigureSpec& spec, const FigureData& data,
                                       const DrawOptions& options);

}  // namespace onset::report
