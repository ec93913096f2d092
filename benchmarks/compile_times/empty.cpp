// The unit of the table: what every program with Eigen pays.
#include <Eigen/Dense>

int main() {}
