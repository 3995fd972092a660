// A rounding error and a sum of a product: a compiler that may reorder them, or fuse them, changes them.
#include "takt/core/finite_math.hpp"

double rounding_error(double sum, double added);
double sum_of_product(double a, double b, double c);

double rounding_error(double sum, double added) { return (sum + added) - sum; }
double sum_of_product(double a, double b, double c) { return a * b + c; }
