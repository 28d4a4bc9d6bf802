// SPDX-License-Identifier: Apache-2.0
// Starts one genuine Elasticsearch 8.19 node inside this JVM.
//
//   java -cp 'lib/*:classes' RealElasticsearch HOME MODULE_DIR...
//
// HOME is the node's path.home (settings in HOME/config/elasticsearch.yml). Each MODULE_DIR
// holds a plugin-descriptor.properties and jars or class files, and is given in dependency order.
// The server insists on one class loader per module (its ServiceLoader look-ups are per module),
// hence ModuleLoader; third-party jars are all on the class path.
import java.io.File;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginBundle;
import org.elasticsearch.plugins.PluginDescriptor;
import org.elasticsearch.plugins.PluginsLoader;

public class RealElasticsearch {

    public static void main(String[] args) throws Exception {
        System.setProperty("es.path.home", args[0]);
        LogConfigurator.configureESLogging();
        Environment env = InternalSettingsPreparer.prepareEnvironment(
            Settings.EMPTY, Map.of("path.home", args[0]), Path.of(args[0], "config"), () -> "realsearch");

        // The public way to a PluginsLoader wants the server as a named Java module; the
        // constructors it ends in do not, but they are not public.
        Constructor<?> newBundle = hidden(PluginBundle.class);
        Constructor<?> newLayer = hidden(Class.forName("org.elasticsearch.plugins.PluginsLoader$LoadedPluginLayer"));
        Set<Object> bundles = new LinkedHashSet<>();
        Map<String, Object> layers = new LinkedHashMap<>();
        List<ClassLoader> before = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            Path dir = Path.of(args[i]);
            PluginDescriptor descriptor = PluginDescriptor.readFromProperties(dir);
            Object bundle = newBundle.newInstance(descriptor, dir);
            ClassLoader loader = new ModuleLoader(dir, before);
            before.add(loader);
            bundles.add(bundle);
            layers.put(descriptor.getName(),
                newLayer.newInstance(bundle, loader, ModuleLayer.boot(), loader, ModuleLayer.boot()));
        }
        PluginsLoader plugins = (PluginsLoader) hidden(PluginsLoader.class).newInstance(bundles, Set.of(), layers);

        Node node = new Node(env, plugins);
        CountDownLatch done = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try { node.close(); } catch (Exception e) { e.printStackTrace(); }
            done.countDown();
        }));
        node.start();
        done.await();
    }

    private static Constructor<?> hidden(Class<?> c) {
        Constructor<?> only = c.getDeclaredConstructors()[0];
        only.setAccessible(true);
        return only;
    }

    /** One module's directory and jars; classes (not resources) of earlier modules are visible too. */
    static class ModuleLoader extends URLClassLoader {
        private final List<ClassLoader> earlier;

        ModuleLoader(Path dir, List<ClassLoader> earlier) throws Exception {
            super(jars(dir), RealElasticsearch.class.getClassLoader());
            this.earlier = new ArrayList<>(earlier);
        }

        private static URL[] jars(Path dir) throws Exception {
            List<URL> urls = new ArrayList<>(List.of(dir.toUri().toURL()));
            for (File f : dir.toFile().listFiles())
                if (f.getName().endsWith(".jar")) urls.add(f.toURI().toURL());
            return urls.toArray(new URL[0]);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try {
                return super.findClass(name);
            } catch (ClassNotFoundException e) {
                for (ClassLoader l : earlier) {
                    try { return l.loadClass(name); } catch (ClassNotFoundException next) { }
                }
                throw e;
            }
        }
    }
}
