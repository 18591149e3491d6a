/** Makes the one client, defines the elements, and starts Python. */

import { Client } from "./client.js";
import { FerroBench } from "./elements/ferro-bench.js";
import { FerroPanel } from "./elements/ferro-panel.js";
import { FerroRuntime } from "./elements/ferro-runtime.js";
import { FerroValue } from "./elements/ferro-value.js";

const config = JSON.parse(document.getElementById("ferro-runtime-config")?.textContent ?? "{}");
const absolute = (/** @type {string} */ path) => new URL(path, document.baseURI).href;
const client = new Client({ ...config, worker: absolute(config.worker), base: absolute(config.base) });

const follow = () => {
  document.documentElement.dataset.runtime = client.status.state;
};
client.addEventListener("status", follow);
follow();

FerroBench.client = client;
FerroRuntime.client = client;
customElements.define("ferro-panel", FerroPanel);
customElements.define("ferro-value", FerroValue);
customElements.define("ferro-runtime", FerroRuntime);
customElements.define("ferro-bench", FerroBench);

client.start();
