/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The password of a role in Amazon RDS or Aurora that has rds_iam: a token that is signed for host,
 * port and role with the keys of an AWS identity, and admits for 15 minutes. So each connection
 * makes its own. Source: "IAM database authentication" in the manual of Amazon RDS.
 *
 * The keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
 */
#pragma once

#include "rowferry/base/err.h"

/* Replaces *password by a new token, which the caller wipes and frees; null at first. `role`
 * replaces that of the URI unless null. `region` may be "": the one in the host's name. Returns
 * ERR_CONFIG if the URI does not name one host and a role, if no region is known, or if a key is
 * not set. */
int rds_token_renew(char **password, const char *uri, const char *role, const char *region,
                    struct err *err) MUST_CHECK;
