/** Writes secrets as `{{NAME}}`. Made once for an environment, used for every run. */
export type Redactor = {
  /** JSON text without the secrets: valid JSON again, and the very same text when it holds none. */
  redact(jsonText: string): string
}
