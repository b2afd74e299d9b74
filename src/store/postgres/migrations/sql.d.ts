/** Migrations are embedded as text: the executable carries them. */
declare module '*.sql' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: an import of a text file has nothing else
  export default text
}
