// SPDX-License-Identifier: Apache-2.0
// A processor for the Elasticsearch nodes of RealElasticsearch, whose module ingest-common is not
// published: it refuses and drops documents as `fail`, `convert` and `drop` do. Pipelines, and what a
// bulk request answers of them, are the server's own.
//
//   {"realsearch": {"field": "source_id", "fail": {"7": "why"}, "reject": {"9": "why"}, "drop": ["8"]}}
//
// fail answers 500, reject 400.
import java.util.List;
import java.util.Map;

import org.elasticsearch.ingest.AbstractProcessor;
import org.elasticsearch.ingest.ConfigurationUtils;
import org.elasticsearch.ingest.IngestDocument;
import org.elasticsearch.ingest.Processor;

class RealElasticsearchIngest extends AbstractProcessor {
    static final String TYPE = "realsearch";

    private final String field;
    private final Map<String, String> fail, reject;
    private final List<String> drop;

    private RealElasticsearchIngest(String tag, String description, Map<String, Object> config) {
        super(tag, description);
        field = ConfigurationUtils.readStringProperty(TYPE, tag, config, "field");
        fail = ConfigurationUtils.readMap(TYPE, tag, config, "fail");
        reject = ConfigurationUtils.readMap(TYPE, tag, config, "reject");
        drop = ConfigurationUtils.readList(TYPE, tag, config, "drop");
    }

    static Processor make(String tag, String description, Map<String, Object> config) {
        return new RealElasticsearchIngest(tag, description, config);
    }

    @Override public String getType() { return TYPE; }

    @Override
    public IngestDocument execute(IngestDocument document) {
        String value = document.getFieldValue(field, String.class);
        if (fail.containsKey(value)) throw new RuntimeException(fail.get(value));
        if (reject.containsKey(value)) throw new IllegalArgumentException(reject.get(value));
        return drop.contains(value) ? null : document;
    }
}
