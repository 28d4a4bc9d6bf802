// SPDX-License-Identifier: Apache-2.0
// A module for the Elasticsearch node of RealElasticsearch: stands in for small pieces of
// server modules that the package registries do not carry.
//
//   - GET /  (module rest-root): same fields, same action name, so that privileges apply;
//   - the analysis parts (module analysis-common) without which the .security index, and
//     with it API keys, cannot be created;
//   - a processor for ingest pipelines (RealElasticsearchIngest; module ingest-common).
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.apache.lucene.analysis.miscellaneous.RemoveDuplicatesTokenFilter;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.apache.lucene.util.Version;
import org.elasticsearch.Build;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.IndexScopedSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.settings.SettingsFilter;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.analysis.AbstractTokenFilterFactory;
import org.elasticsearch.index.analysis.AbstractTokenizerFactory;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.ingest.Processor;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.IngestPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestController;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.transport.TransportService;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

public class RealElasticsearchExtras extends Plugin implements ActionPlugin, AnalysisPlugin, IngestPlugin {
    static final ActionType<MainResponse> MAIN = new ActionType<>("cluster:monitor/main");

    @Override
    public Collection<ActionHandler<? extends ActionRequest, ? extends ActionResponse>> getActions() {
        return List.of(new ActionHandler<>(MAIN, MainAction.class));
    }

    @Override
    public Collection<RestHandler> getRestHandlers(Settings settings, NamedWriteableRegistry registry,
            RestController controller, ClusterSettings clusterSettings, IndexScopedSettings indexScopedSettings,
            SettingsFilter filter, IndexNameExpressionResolver resolver, Supplier<DiscoveryNodes> nodes,
            Predicate<NodeFeature> features) {
        return List.of(new MainHandler());
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        AnalysisProvider<TokenFilterFactory> capture = (index, env, name, s) ->
            filter(name, s, in -> new PatternCaptureGroupTokenFilter(in, s.getAsBoolean("preserve_original", true),
                s.getAsList("patterns").stream().map(Pattern::compile).toArray(Pattern[]::new)));
        AnalysisProvider<TokenFilterFactory> unique = (index, env, name, s) ->
            filter(name, s, RemoveDuplicatesTokenFilter::new);
        return Map.of("pattern_capture", capture, "unique", unique);
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of("uax_url_email", (index, env, name, s) -> new AbstractTokenizerFactory(index, s, name) {
            @Override public Tokenizer create() { return new UAX29URLEmailTokenizer(); }
        });
    }

    @Override
    public Map<String, Processor.Factory> getProcessors(Processor.Parameters parameters) {
        return Map.of(RealElasticsearchIngest.TYPE,
            (others, tag, description, config) -> RealElasticsearchIngest.make(tag, description, config));
    }

    interface Wrap { TokenStream on(TokenStream in); }

    private static TokenFilterFactory filter(String name, Settings s, Wrap wrap) {
        return new AbstractTokenFilterFactory(name, s) {
            @Override public TokenStream create(TokenStream in) { return wrap.on(in); }
        };
    }

    static class MainHandler extends BaseRestHandler {
        @Override public String getName() { return "main_action"; }
        @Override public List<Route> routes() {
            return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
        }
        @Override protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
            return channel -> client.execute(MAIN, new MainRequest(), new RestToXContentListener<>(channel));
        }
    }

    public static class MainRequest extends ActionRequest {
        @Override public ActionRequestValidationException validate() { return null; }
    }

    public static class MainAction extends TransportAction<MainRequest, MainResponse> {
        private final ClusterService cluster;

        @Inject
        public MainAction(TransportService transport, ActionFilters filters, ClusterService cluster) {
            super(MAIN.name(), filters, transport.getTaskManager(), EsExecutors.DIRECT_EXECUTOR_SERVICE);
            this.cluster = cluster;
        }

        @Override
        protected void doExecute(Task task, MainRequest request, ActionListener<MainResponse> listener) {
            listener.onResponse(new MainResponse(cluster.localNode().getName(), cluster.getClusterName().value(),
                cluster.state().metadata().clusterUUID()));
        }
    }

    public static class MainResponse extends ActionResponse implements ToXContentObject {
        private final String node, name, uuid;

        MainResponse(String node, String name, String uuid) { this.node = node; this.name = name; this.uuid = uuid; }

        @Override public void writeTo(StreamOutput out) { throw new UnsupportedOperationException(); }

        @Override
        public XContentBuilder toXContent(XContentBuilder b, Params params) throws java.io.IOException {
            Build build = Build.current();
            return b.startObject()
                .field("name", node).field("cluster_name", name).field("cluster_uuid", uuid)
                .startObject("version")
                .field("number", build.qualifiedVersion()).field("build_flavor", build.flavor())
                .field("build_type", build.type().displayName()).field("build_hash", build.hash())
                .field("build_date", build.date()).field("build_snapshot", build.isSnapshot())
                .field("lucene_version", Version.LATEST.toString())
                .field("minimum_wire_compatibility_version", build.minWireCompatVersion())
                .field("minimum_index_compatibility_version", build.minIndexCompatVersion())
                .endObject()
                .field("tagline", "You Know, for Search")
                .endObject();
        }
    }
}
