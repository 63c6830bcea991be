// A host of MCP Apps: the official client and the official AppBridge, in a browser. Tests drive it through `host`.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport, getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";

const UI = "io.modelcontextprotocol/ui";
const INFO = { name: "app-host", version: "1.0.0" };
const capabilities = { extensions: { [UI]: { mimeTypes: ["text/html;profile=mcp-app"] } } };

const chat = document.getElementById("chat");
const pin = new URLSearchParams(location.search).get("era");
const client = new Client(INFO, { capabilities, ...(pin ? { versionNegotiation: { mode: { pin } } } : {}) });
await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
const { tools } = await client.listTools();

const host = {
  client,
  tools,
  messages: [],
  sizes: [],
  modes: [],
  results: [],
  bridges: [],

  // Calls a tool as a host does. `when` is when its App appears: "held" (during the call) or "after" it.
  async call(name, args = {}, { when = "held", context = {}, ...how } = {}) {
    const tool = tools.find((each) => each.name === name);
    const info = { toolInfo: { tool } };
    const frame = when === "held" ? await host.show(tool, args, { ...info, ...context }, how) : null;
    const result = await client.callTool({ name, arguments: args });
    host.results.push(result);
    const shown = frame ?? (when === "after" ? await host.show(tool, args, { ...info, ...context }, how) : null);
    await shown?.sendToolResult(result);
    return result.content.map((block) => block.text).join("\n");
  },

  // Shows the App of a tool. `height` fixes the frame's height and ignores the App's own.
  async show(tool, args, hostContext, { height, says = true } = {}) {
    document.body.classList.toggle("dark", hostContext.theme === "dark");
    const { contents } = await client.readResource({ uri: getToolUiResourceUri(tool) });
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    if (height !== undefined) frame.style.height = `${height}px`;
    chat.append(frame);
    const hostCapabilities = { serverTools: {}, ...(says ? { message: {} } : {}) };
    const bridge = new AppBridge(client, INFO, hostCapabilities, { hostContext });
    bridge.onsizechange = (size) => {
      host.sizes.push(size);
      if (height === undefined) frame.style.height = `${size.height}px`;
    };
    bridge.onmessage = async (message) => {
      if (!says) return { isError: true };
      host.messages.push(message);
      return {};
    };
    bridge.onrequestdisplaymode = async ({ mode }) => {
      host.modes.push(mode);
      frame.style.height = "90vh";
      bridge.setHostContext({ ...hostContext, displayMode: mode });
      return { mode };
    };
    const initialized = new Promise((done) => (bridge.oninitialized = done));
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = contents[0].text;
    await initialized;
    await bridge.sendToolInput({ arguments: args });
    host.bridges.push(bridge);
    return bridge;
  },
};

window.host = host;
