declare module 'parse-prometheus-text-format' {
  type Sample = { labels?: Record<string, string>; value: string }
  /** Throws when a line breaks the format. */
  // biome-ignore lint/style/noDefaultExport: that is how the package exports it
  export default function parse(text: string): { name: string; help: string; type: string; metrics: Sample[] }[]
}
