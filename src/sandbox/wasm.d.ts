/** The path of the JavaScript engine's file. The build embeds the file, and the path is valid in the executable too. */
declare module 'quickjs-wasi/quickjs.wasm' {
  const path: string
  // biome-ignore lint/style/noDefaultExport: Bun exports the path of a file in this way
  export default path
}
