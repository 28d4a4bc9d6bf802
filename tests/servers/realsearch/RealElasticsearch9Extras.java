// SPDX-License-Identifier: Apache-2.0
// GET / and the processor of RealElasticsearchIngest for an Elasticsearch 9 node of RealElasticsearch (there is no security with 9, so
// the rest of RealElasticsearchExtras is not needed; the interfaces differ from 8).
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.apache.lucene.util.Version;
import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.ingest.Processor;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.IngestPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentBuilder;

public class RealElasticsearch9Extras extends Plugin implements ActionPlugin, IngestPlugin {
    private ClusterService cluster;

    @Override
    public Collection<?> createComponents(PluginServices services) {
        cluster = services.clusterService();
        return List.of();
    }

    @Override
    public Collection<RestHandler> getRestHandlers(RestHandlersServices services, Supplier<DiscoveryNodes> nodes,
            Predicate<NodeFeature> features) {
        return List.of(new MainHandler());
    }

    @Override
    public Map<String, Processor.Factory> getProcessors(Processor.Parameters parameters) {
        return Map.of(RealElasticsearchIngest.TYPE,
            (others, tag, description, config, project) -> RealElasticsearchIngest.make(tag, description, config));
    }

    class MainHandler extends BaseRestHandler {
        @Override public String getName() { return "main_action"; }
        @Override public List<Route> routes() {
            return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
        }

        @Override
        protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
            return channel -> {
                Build build = Build.current();
                XContentBuilder b = channel.newBuilder();
                b.startObject()
                    .field("name", cluster.localNode().getName())
                    .field("cluster_name", cluster.getClusterName().value())
                    .field("cluster_uuid", cluster.state().metadata().clusterUUID())
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
                channel.sendResponse(new RestResponse(RestStatus.OK, b));
            };
        }
    }
}
