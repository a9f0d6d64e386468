// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

namespace moiety::apps {

// Each function adds one subcommand: its flags, its help and a callback that does the work. A
// callback throws UserError for the user's mistake and any other exception for a failure; main()
// prints it in one line and chooses the exit code.

void add_devices(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_export(CLI::App& app);
void add_generate(CLI::App& app);
void add_inspect(CLI::App& app);
void add_predict(CLI::App& app);
void add_prepare(CLI::App& app);
void add_recipe(CLI::App& app);
void add_report(CLI::App& app);
void add_tokenizer(CLI::App& app);
void add_train(CLI::App& app);

}  // namespace moiety::apps
