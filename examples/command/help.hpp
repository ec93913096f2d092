#pragma once

/// What stands below the options in each --help.
namespace command {

inline constexpr const char* examples = R"(examples:
  kernelet fit airfoil.csv --target pressure -o airfoil.model
  kernelet report airfoil.model airfoil.csv -o airfoil.html
  kernelet predict airfoil.model new.csv --deviation > predicted.csv
  kernelet inspect airfoil.model --json
  kernelet cross-validate rooms.csv --folds 10
  kernelet export airfoil.model -o airfoil.c

kernelet COMMAND --help lists the options of a command.

exit codes:
  0  done
  1  a file, a table or a value is wrong; nothing was written
  2  the command line is wrong
  3  done, but the fit was stopped or missed its tolerance)";

inline constexpr const char* fit_examples = R"(examples:
  kernelet fit airfoil.csv -o airfoil.model
  kernelet fit airfoil.csv --target pressure --tolerance 1.5 --max-kernels 40 -o airfoil.model
  kernelet fit rooms.tsv --no-header --target 8 --classes -o rooms.model
  zcat log.csv.gz | kernelet fit - --drop time,comment --time-limit 60 -o log.model

Without --classes and --regression, the target has classes where it holds words, or at most ten different
whole numbers with at least ten rows for each on average. Up to 30 classes have one classifier per pair,
more have one per class against the rest.
^C ends the fit and writes the best model so far; a second ^C ends the program.)";

inline constexpr const char* predict_examples = R"(examples:
  kernelet predict airfoil.model new.csv -o predicted.csv
  kernelet predict airfoil.model new.csv --deviation
  kernelet predict rooms.model new.csv --probabilities

The columns of the table are found by the names of the model's inputs, or by their position where the table
has no header; other columns are left out.)";

inline constexpr const char* inspect_examples = R"(examples:
  kernelet inspect airfoil.model
  kernelet inspect airfoil.model --json | python3 -m json.tool)";

inline constexpr const char* cross_validate_examples = R"(examples:
  kernelet cross-validate airfoil.csv --folds 5
  kernelet cross-validate prices.csv --time
  kernelet cross-validate rooms.csv --target room --loss hinge)";

inline constexpr const char* export_examples = R"(examples:
  kernelet export airfoil.model --name airfoil -o airfoil.c
  kernelet export airfoil.model --name airfoil --float --no-libm -o airfoil.c

The comment at the head of the file declares the functions.)";

inline constexpr const char* report_examples = R"(examples:
  kernelet report airfoil.model airfoil.csv -o airfoil.html
  kernelet report airfoil.model measured_later.csv -o later.html)";

}  // namespace command
