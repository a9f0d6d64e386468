// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace moiety::apps {

/// The text for use between tags and inside quoted attributes.
std::string escape_html(std::string_view text);

/// A page on its own: title, the style shared by all pages, and the body, which is HTML.
std::string html_page(std::string_view title, std::string_view body);

/// Four significant digits: "0.1712", "1.9e-05", "12340".
std::string format_figure(double value);

}  // namespace moiety::apps
