// SPDX-License-Identifier: Apache-2.0
#include <hdf5.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <new>
#include <string>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/interrupted.h"
#include "tensor/error.h"

namespace {

constexpr int kFailure = 1;
constexpr int kUserMistake = 2;
constexpr int kSignal = 128;  // plus the signal's number, as shells report it

/// What CLI11 prints for flags that it cannot parse: the error, and whose help to read.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = app->get_name();
  for (const CLI::App* chosen : app->get_subcommands()) command += " " + chosen->get_name();
  return moiety::concat("moiety: error: ", error.what(), "; see '", command, " --help'\n");
}

int run(int argc, char** argv) {
  CLI::App app("Trains molecular graph networks.", "moiety");
  app.set_version_flag("--version", "moiety " MOIETY_VERSION);
  app.require_subcommand(1);
  app.failure_message(usage_error);
  moiety::apps::add_prepare(app);
  moiety::apps::add_train(app);
  moiety::apps::add_predict(app);
  moiety::apps::add_evaluate(app);
  moiety::apps::add_export(app);
  moiety::apps::add_generate(app);
  moiety::apps::add_inspect(app);
  moiety::apps::add_report(app);
  moiety::apps::add_recipe(app);
  moiety::apps::add_tokenizer(app);
  moiety::apps::add_devices(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUserMistake;
  }
  return 0;
}

/// Runs and returns the exit code; every failure ends as a line on stderr.
int run_and_report(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const moiety::UserError& error) {
    moiety::apps::print_error(error.what());
    return kUserMistake;
  } catch (const moiety::apps::Interrupted& stop) {
    moiety::apps::print_notice(stop.what());
    return kSignal + stop.signal();
  } catch (const std::bad_alloc&) {
    moiety::apps::print_error("out of memory: this machine has none left for the program");
    return kFailure;
  } catch (const std::exception& error) {
    moiety::apps::print_error(error.what());
    return kFailure;
  }
}

}  // namespace

int main(int argc, char** argv) {
  moiety::apps::hold_standard_streams();
  // What HDF5 could not write to a full disk it would try again at exit, and crash.
  H5dont_atexit();
  const int code = run_and_report(argc, argv);
  const std::string problem = moiety::apps::problem_of_stdout();
  if (code != 0 || problem.empty()) return code;
  moiety::apps::print_error(problem);
  return kFailure;
}
