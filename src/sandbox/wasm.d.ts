/** The engine's file, imported `with { type: 'file' }`: its path, also inside the executable. */
declare module 'quickjs-wasi/quickjs.wasm' {
  const path: string
  // biome-ignore lint/style/noDefaultExport: this is how the bundler hands over a file's path
  export default path
}
