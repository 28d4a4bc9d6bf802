// SPDX-License-Identifier: Apache-2.0
// Starts one genuine OpenSearch (2.x or 3.x) node inside this JVM.
//
//   java -cp 'lib/*:classes' RealOpenSearch HOME PLUGIN_CLASS...
//
// HOME is the node's path.home; settings come from HOME/config/opensearch.yml.
// The plugin classes are found on the flat class path, which is why no
// distribution layout (modules/, plugins/, descriptors) is needed.
// Reflection only, so that one source serves all versions: the constructor takes
// a collection of plugin classes in 2.x and of PluginInfo in 3.x.
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

public class RealOpenSearch {
    public static void main(String[] args) throws Exception {
        System.setProperty("opensearch.path.home", args[0]);
        Path conf = Path.of(args[0], "config");

        Class<?> settings = Class.forName("org.opensearch.common.settings.Settings");
        Class<?> preparer = Class.forName("org.opensearch.node.InternalSettingsPreparer");
        Object env = preparer
            .getMethod("prepareEnvironment", settings, Map.class, Path.class, Supplier.class)
            .invoke(null, settings.getField("EMPTY").get(null), Map.of("path.home", args[0]), conf,
                    (Supplier<String>) () -> "realsearch");

        Class<?> nodeClass = Class.forName("org.opensearch.node.Node");
        Constructor<?> make = null;
        for (Constructor<?> c : nodeClass.getDeclaredConstructors())
            if (c.getParameterCount() == 3) make = c;
        make.setAccessible(true);
        boolean byInfo = make.getGenericParameterTypes()[1].getTypeName().contains("PluginInfo");

        List<Object> plugins = new ArrayList<>();
        for (int i = 1; i < args.length; i++)
            plugins.add(byInfo ? info(args[i]) : Class.forName(args[i]));

        Object node = make.newInstance(env, plugins, false);
        CountDownLatch done = new CountDownLatch(1);
        Method close = nodeClass.getMethod("close");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try { close.invoke(node); } catch (Exception e) { e.printStackTrace(); }
            done.countDown();
        }));
        nodeClass.getMethod("start").invoke(node);
        done.await();
    }

    private static Object info(String pluginClass) throws Exception {
        Class<?> version = Class.forName("org.opensearch.Version");
        return Class.forName("org.opensearch.plugins.PluginInfo")
            .getConstructor(String.class, String.class, String.class, version, String.class,
                            String.class, String.class, List.class, boolean.class)
            .newInstance(pluginClass, "class path plugin", "NA", version.getField("CURRENT").get(null),
                         "11", pluginClass, null, List.of(), false);
    }
}
