#pragma once

#include <string>
#include <string_view>

namespace jobman::http {

/// The text with "[redacted]" for each place that reads as the secret, where any character may be
/// escaped, up to four times over: as in URLs (%2F), JSON and programs (\u002f, \x2f, \/), or HTML
/// (&#47; &#x2f; &amp;).
/// Takes time in proportion to the text, unless the secret repeats itself.
std::string WithoutEscaped(std::string text, std::string_view secret);

}  // namespace jobman::http
