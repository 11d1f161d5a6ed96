// Writes dist/page.js, dist/page.css and dist/licences.txt from the sources and the pinned modules.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

await build({
  entryPoints: { page: "src/page.js" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // they are in licences.txt
});
const modules = ["@msgpack/msgpack", "@nats-io/nats-core", "@nats-io/nkeys", "@nats-io/nuid", "tweetnacl", "uplot"];
const licences = modules.map((name) => {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/licences.txt", licences.join("\n----\n\n"));
