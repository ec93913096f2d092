#pragma once

#include "csv.hpp"
#include "model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace command {

/// What programs that call this one may rely on.
enum ExitCode {
    done = 0,
    wrong_input = 1,   ///< a file, a table or an option with a wrong value; nothing was written
    wrong_usage = 2,   ///< the command line
    not_as_asked = 3,  ///< written, but the fit was stopped or missed its tolerance; the report says which
};

/// What a table is fitted with.
struct FitRequest {
    std::string data{};
    CsvOptions csv{};
    std::string target{};  ///< empty: the last column
    std::vector<std::string> dropped{};
    std::string task{};    ///< "regression" or "classes"; empty: from what the target holds
    std::string kernel{};  ///< empty: gaussian of one input, anisotropic_gaussian of several
    std::string loss{};    ///< empty: squared, or logistic of classes
    std::optional<double> tolerance{};
    std::optional<double> seconds{};
    std::optional<Index> max_kernels{};
    std::uint64_t seed = 1;
    std::string made_by{};  ///< the command line
};

/// A table with its target as numbers or as labels.
struct Table {
    Matrix x{};  ///< d x n
    std::vector<std::string> inputs{};
    std::string target{};
    bool classes = false, many_classes = false;  ///< many: one classifier per class, not one per pair
    Vector y{};                                  ///< of a regression
    std::vector<std::string> labels{};           ///< of classes
};

Table read_table(const FitRequest& request);

/// The target of a regression; throws UserError by line and column where it is no number.
Vector target_numbers(const CsvFile& file, const CsvData& data, std::size_t column);

/// The inputs of a model from a table: by name, or by position where the table or the model has no names.
Matrix read_inputs(const CsvFile& file, const StoredModel& stored);

/// An estimator of the kernel, the loss and the options that were asked for; regression and classes alike.
using Estimator = kernelet::SparseKernelEstimator<AnyKernel, kernelet::AnyLoss>;
Estimator estimator_of(const FitRequest& request, const Table& table);

/// Draws one bar on a terminal, obeys ^C and the time limit.
kernelet::ObserverFunction observer_of(const FitRequest& request);
/// From here on the first ^C ends fits, and only the second the program.
void catch_interrupts();
bool was_interrupted();

struct PredictRequest {
    std::string model{}, data{}, out = "-";
    CsvOptions csv{};
    bool deviation = false, noise = false, probabilities = false;
};

int fit(const FitRequest& request, const std::string& out);
int predict(const PredictRequest& request);
int inspect(const std::string& model, bool json);
int cross_validate(const FitRequest& request, Index folds, bool time_blocks);
int report(const std::string& model, const std::string& data, const CsvOptions& csv, const std::string& out);

}  // namespace command
