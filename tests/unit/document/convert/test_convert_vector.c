/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors: forms, components, and the similarity's requirements on their length. */
#include "encoding.h"
#include "suite.h"

#define DENSE(more) "{\"type\":\"dense_vector\",\"dims\":3" more "}"
#define KNN(more) "{\"type\":\"knn_vector\",\"dimension\":3" more "}"

static const char other[] = "a vector of another dimension than the mapping's";
static const char no_float[] = "a vector with a component that is not a finite number";
static const char no_byte[] =
    "a vector with a component that is not a whole number from -128 to 127";
static const char zeros[] = "a vector of zeros, which has no cosine";
static const char not_one[] = "a vector whose length is not 1, which dot_product requires";

START_TEST(vectors_are_arrays_of_finite_numbers)
{
    expect_as("float4[]", DENSE(""), "{1,-2.5,1e-05}", "[1,-2.5,1e-05]");
    expect_as("float8[]", DENSE(""), "[0:2]={1,2,3}", "[1,2,3]");
    expect_as("numeric[]", KNN(""), "{1.10,2,0.00}", "[1.10,2,0.00]");
    expect_as("int4[]", KNN(""), "{1,2,3}", "[1,2,3]");
    expect_as("vector", DENSE(""), "[1,2,3.25]", "[1,2,3.25]");
    expect_as("halfvec", KNN(""), "[1,2,3.25]", "[1,2,3.25]");
    expect_as("jsonb", DENSE(""), "[1, 2, 3]", "[1,2,3]");
    expect_as("jsonb", DENSE(""), "null", "null");
    expect("vector", "knn_vector", "[1]", "[1]");
}
END_TEST

START_TEST(what_is_no_vector_is_refused)
{
    expect_refused_as("float4[]", DENSE(""), "{1,2}", other);
    expect_refused_as("vector", KNN(""), "[1,2,3,4]", other);
    expect_refused_as("float4[]", DENSE(""), "{1,2,NULL}", no_float);
    expect_refused_as("float4[]", DENSE(""), "{1,2,NaN}", no_float);
    expect_refused_as("float8[]", KNN(""), "{1,2,-Infinity}", no_float);
    expect_refused_as("float8[]", KNN(""), "{1,2,1e39}", no_float);
    expect_refused_as("float4[]", DENSE(""), "{}", no_float);
    expect_refused_as("float4[]", DENSE(""), "{{1,2,3}}", no_float);
    expect_refused_as("jsonb", DENSE(""), "{\"a\": 1}", no_float);
    expect_refused_as("jsonb", DENSE(""), "[\"1\", 2, 3]", no_float);
    expect_refused_as("jsonb", DENSE(""), "1", "not a vector");
    expect_refused_as("jsonb", DENSE(""), "[1,2,3", "not a vector");
    expect_refused_as("jsonb", DENSE(""), "[1,2,3]]", "not a vector");
}
END_TEST

START_TEST(zeros_have_no_cosine)
{
    expect_refused_as("float4[]", DENSE(""), "{0,-0,0}", zeros);
    expect_refused_as("float8[]", DENSE(""), "{0,0e10,0.00}", zeros);
    expect_refused_as("float4[]", DENSE(",\"similarity\":\"cosine\""), "{0,0,0}", zeros);
    expect_refused_as("float4[]", DENSE(",\"element_type\":\"byte\""), "{0,0,0}", zeros);
    expect_as("float4[]", DENSE(""), "{0,0,1e-10}", "[0,0,1e-10]");
    expect_as("float4[]", DENSE(",\"similarity\":\"l2_norm\""), "{0,0,0}", "[0,0,0]");
    expect_as("float4[]", DENSE(",\"similarity\":\"max_inner_product\""), "{0,0,0}", "[0,0,0]");
    expect_as("float4[]", DENSE(",\"index\":false"), "{0,0,0}", "[0,0,0]");
    expect_as("float4[]", KNN(""), "{0,0,0}", "[0,0,0]");
    expect_as("float4[]", KNN(",\"space_type\":\"l2\""), "{0,0,0}", "[0,0,0]");
    expect_refused_as("float4[]", KNN(",\"space_type\":\"cosinesimil\""), "{0,0,0}", zeros);
    expect_refused_as("float4[]", KNN(",\"method\":{\"space_type\":\"cosinesimil\"}"), "{0,0,0}",
                      zeros);
}
END_TEST

START_TEST(a_dot_product_asks_for_a_length_of_one)
{
    static const char property[] = DENSE(",\"similarity\":\"dot_product\"");
    expect_as("float4[]", property, "{0.6,0,-0.8}", "[0.6,0,-0.8]");
    expect_as("float8[]", property, "{6e-1,0,8.0004e-01}", "[6e-1,0,8.0004e-01]");
    expect_as("numeric[]", property, "{0,0,1.00000000000000000000000001}",
              "[0,0,1.00000000000000000000000001]");
    expect_refused_as("float4[]", property, "{0.6,0,0.81}", not_one);
    expect_refused_as("float4[]", property, "{1,1,1}", not_one);
    expect_refused_as("float4[]", property, "{0,0,0}", not_one);
    expect_refused_as("float4[]", property, "{1e30,0,0}", not_one);
    expect_as("int4[]", DENSE(",\"similarity\":\"dot_product\",\"element_type\":\"byte\""),
              "{5,0,0}", "[5,0,0]");
}
END_TEST

START_TEST(elements_of_bytes_are_whole)
{
    static const char dense[] = DENSE(",\"element_type\":\"byte\"");
    static const char knn[] = KNN(",\"data_type\":\"byte\"");
    expect_as("int4[]", dense, "{-128,0,127}", "[-128,0,127]");
    expect_as("numeric[]", knn, "{1.0,2,3e1}", "[1.0,2,3e1]");
    expect_refused_as("int4[]", dense, "{1,2,128}", no_byte);
    expect_refused_as("int4[]", knn, "{1,2,-129}", no_byte);
    expect_refused_as("float4[]", knn, "{1,2,1.5}", no_byte);
    expect_refused_as("float4[]", dense, "{1,2,NULL}", no_byte);
}
END_TEST

START_TEST(of_bits_there_are_an_eighth_as_many_numbers)
{
    static const char dense[] = "{\"type\":\"dense_vector\",\"dims\":16,\"element_type\":\"bit\"}";
    static const char knn[] = "{\"type\":\"knn_vector\",\"dimension\":16,\"data_type\":\"binary\"}";
    expect_as("int2[]", dense, "{0,0}", "[0,0]");
    expect_as("int2[]", knn, "{-1,127}", "[-1,127]");
    expect_refused_as("int2[]", dense, "{1}", other);
    expect_refused_as("int2[]", knn, "{1,255}", no_byte);
}
END_TEST

START_TEST(a_sparse_vector_is_filled_up_with_zeros)
{
    static const char five[] = "{\"type\":\"knn_vector\",\"dimension\":5}";
    expect_as("sparsevec", five, "{1:1.5,3:2}/5", "[1.5,0,2,0,0]");
    expect_as("sparsevec", five, "{2:-1,5:1e-05}/5", "[0,-1,0,0,1e-05]");
    expect_as("sparsevec", five, "{}/5", "[0,0,0,0,0]");
    expect_as("sparsevec", five, "{1:1,2:2,3:3,4:4,5:5}/5", "[1,2,3,4,5]");
    expect_refused_as("sparsevec", five, "{1:1}/4", other);
    expect_refused_as("sparsevec", five, "{6:1}/5", "not a vector");
    expect_refused_as("sparsevec", five, "{0:1}/5", "not a vector");
    expect_refused_as("sparsevec", five, "{2:1,2:1}/5", "not a vector");
    expect_refused_as("sparsevec", five, "{1:1,}/5", "not a vector");
    expect_refused_as("sparsevec", five, "{1:1", "not a vector");
    expect_refused_as("sparsevec", five, "{1:1/5", "not a vector");
    expect_refused_as("sparsevec", five, "{1:NaN}/5", no_float);
    expect_refused("sparsevec", "dense_vector", "{}/3", zeros);
    expect_refused("sparsevec", "knn_vector", "{1:1}/1000000000",
                   "a vector of more dimensions than the service takes");
    expect_refused("sparsevec", "knn_vector", "{1:1}/99999999999999999999", "not a vector");
}
END_TEST

START_TEST(a_sparse_vector_is_a_set_of_features)
{
    expect("sparsevec", "rank_features", "{1:1.5,3:2}/5", "{\"1\":1.5,\"3\":2}");
    expect("sparsevec", "sparse_vector", "{1000000000:1e-05}/1000000000", "{\"1000000000\":1e-05}");
    expect("sparsevec", "rank_features", "{}/5", "{}");
    expect_refused("sparsevec", "rank_features", "{1:-1}/5", "a weight that is not above zero");
    expect_refused("sparsevec", "rank_features", "{1:0}/5", "a weight that is not above zero");
    expect_refused("sparsevec", "rank_features", "{1:1e-40}/5", "a weight that is not above zero");
    expect_refused("sparsevec", "rank_features", "{1:1,}/5", "not a vector");
    expect_refused("sparsevec", "rank_features", "{1:1", "not a vector");
}
END_TEST

START_TEST(a_vector_of_any_dimension_has_an_end)
{
    struct buf text;
    buf_init(&text, 100000);
    for (int i = 0; i < 4096; i++) {
        buf_push_text(&text, i == 0 ? "[1" : ",1");
    }
    char *most = text_copy(buf_text(&text));
    buf_push_literal(&text, ",1]");
    expect_refused("vector", "dense_vector", buf_text(&text),
                   "a vector of more dimensions than the service takes");
    expect("vector", "knn_vector", buf_text(&text), buf_text(&text));
    buf_reset(&text);
    buf_printf(&text, "%s]", most);
    expect("vector", "dense_vector", buf_text(&text), buf_text(&text));
    free(most);
    buf_release(&text);
}
END_TEST

SUITE_MAIN("document/convert_vector", vectors_are_arrays_of_finite_numbers,
           what_is_no_vector_is_refused, zeros_have_no_cosine,
           a_dot_product_asks_for_a_length_of_one, elements_of_bytes_are_whole,
           of_bits_there_are_an_eighth_as_many_numbers, a_sparse_vector_is_filled_up_with_zeros,
           a_sparse_vector_is_a_set_of_features, a_vector_of_any_dimension_has_an_end)
