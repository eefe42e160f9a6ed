import { defineConfig } from "rolldown"

/** One file with all that it needs: it starts sooner, and npm installs nothing else. */
export default defineConfig({
  input: "src/main.ts",
  platform: "node",
  output: { file: "dist/main.js", format: "esm", codeSplitting: false, minify: { compress: true, mangle: false } }
})
