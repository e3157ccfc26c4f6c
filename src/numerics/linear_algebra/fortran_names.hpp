#pragma once

/// What we call of BLAS and LAPACK. Debian's OpenBLAS has no header for LAPACK; the Fortran names
/// are the stable interface. Matrices are column-major, so that ours appear transposed.
extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* rows, const int* columns,
            const int* inner, const float* alpha, const float* a, const int* stride_a,
            const float* b, const int* stride_b, const float* beta, float* c, const int* stride_c);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* rows, const int* columns,
            const int* inner, const double* alpha, const double* a, const int* stride_a,
            const double* b, const int* stride_b, const double* beta, double* c,
            const int* stride_c);
void ssyevd_(const char* job, const char* triangle, const int* size, float* matrix,
             const int* stride, float* values, float* work, const int* work_size, int* whole_work,
             const int* whole_work_size, int* info);
void dsyevd_(const char* job, const char* triangle, const int* size, double* matrix,
             const int* stride, double* values, double* work, const int* work_size, int* whole_work,
             const int* whole_work_size, int* info);
void dgesdd_(const char* job, const int* rows, const int* columns, double* matrix,
             const int* stride, double* values, double* left, const int* left_stride, double* right,
             const int* right_stride, double* work, const int* work_size, int* whole_work,
             int* info);
void dpotrf_(const char* triangle, const int* size, double* matrix, const int* stride, int* info);
void dpotrs_(const char* triangle, const int* size, const int* columns, const double* matrix,
             const int* stride, double* right, const int* right_stride, int* info);
}
