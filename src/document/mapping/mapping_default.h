/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parameters of a mapping are where nobody says them.
 */
#ifndef ROWFERRY_DOCUMENT_MAPPING_DEFAULT_H
#define ROWFERRY_DOCUMENT_MAPPING_DEFAULT_H

#include <stdbool.h>

/* type: of the property, "" = the whole mapping; value: its text without quotes, null = JSON null.
 * Services leave such a parameter out of what they tell, or put it in. */
bool mapping_is_default(const char *type, const char *parameter, const char *value);

#endif
