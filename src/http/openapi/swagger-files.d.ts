/** Files inside the executable; the import gives the path of a file. */
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  // biome-ignore lint/style/noDefaultExport: an import with `type: 'file'` gives its path as the default export
  export default path
}
declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  // biome-ignore lint/style/noDefaultExport: an import with `type: 'file'` gives its path as the default export
  export default path
}
