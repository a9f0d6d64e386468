// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace moiety::apps {

/// The text for use between tags and inside quoted attributes.
std::string escape_html(std::string_view text);

/// A page on its own: title, the style shared by all pages, and the body, which is HTML.
std::string html_page(std::string_view title, std::string_view body);

/// A box of a page with its title; `content` is HTML, as below.
std::string card(const std::string& title, const std::string& content);
/// Content under a heading; "" where there is none.
std::string section(const std::string& title, const std::string& content);
/// Cards beside each other; "" where there are none.
std::string grid(const std::string& cards);

/// Four significant digits: "0.1712", "1.9e-05", "12340".
std::string format_figure(double value);

}  // namespace moiety::apps
