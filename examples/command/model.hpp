#pragma once

#include <kernelet/kernelet.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace command {

using kernelet::AnyKernel;
using kernelet::Index;
using kernelet::Matrix;
using kernelet::Vector;
using Regression = kernelet::SparseKernelModel<AnyKernel>;
using Classifier = kernelet::EnsembleModel<AnyKernel, std::string>;

/// α over centers and widths, of one input: for its picture.
struct AlphaGrid {
    double z_lo{}, z_hi{}, w_lo{}, w_hi{};  ///< the widths are spaced evenly in log w
    Matrix values{};                        ///< widths x centers
};

/// What a fit, or one of several classifiers, proved and how it ended: kernelet::Certificate and more, for the page and
/// for JSON.
struct Certificate {
    std::string of{};  ///< "a against b" of classifiers
    std::string status{};
    Index kernels{};
    bool certified{};  ///< the values from `dual` on mean something
    double residual{}, tolerance{};
    double dual{}, primal{}, violation{}, support{}, integration{};
};

/// What the file of a model says beside the model.
struct Description {
    std::string made_by{};                    ///< the command line
    std::string target{};                     ///< the name of the column
    std::vector<std::string> inputs{};        ///< the names of the columns
    std::vector<std::string> report{};        ///< lines
    std::vector<Certificate> certificates{};  ///< one, or one per classifier
    AlphaGrid alpha{};
};

/// What `kernelet fit` writes: a model as kernelet::save() writes it, which a program reads with kernelet::load(stream),
/// and after it a description.
struct StoredModel {
    std::variant<Regression, Classifier> model;
    Description about{};

    const Regression* regression() const { return std::get_if<Regression>(&model); }
    const Classifier* classifier() const { return std::get_if<Classifier>(&model); }
    Index dimension() const;
};

/// The kernel families of the command, by the names they have in files.
std::vector<std::string> kernel_names();
AnyKernel kernel_of(std::string_view name);

/// "-" is the standard input and output.
void save_model(const std::string& path, const StoredModel& stored);
StoredModel load_model(const std::string& path);

/// The same model as C; see kernelet::export_c.
void export_model(const std::string& path, const StoredModel& stored,
                  const kernelet::CExportOptions& options);

/// Writes a file, or the standard output for "-". A device or a pipe is written to; a file is replaced at the end.
void write_text(const std::string& path, const std::string& text);

/// Throws UserError where write_text() would fail: before a long fit, not after it.
void check_writable(const std::string& path);

}  // namespace command
