/** A file of the editor: the paths of its compressed forms, or of the file itself when compression does not help. */
export type InterfaceFile = { type: string; etag: string; br?: string; gz?: string; plain?: string }

/** By request path; `/` is the page itself. */
export type InterfaceFiles = Readonly<Record<string, InterfaceFile | undefined>>

/** The content of a text file. */
export async function textIn({ gz, plain }: InterfaceFile): Promise<string> {
  const bytes = await Bun.file(plain ?? gz ?? '').bytes()
  return new TextDecoder().decode(plain === undefined ? Bun.gunzipSync(bytes) : bytes)
}

/**
 * The editor's files, loaded on the first request. The executable contains them; a service that runs from source reads
 * the output of `bun scripts/build-interface.ts`. Empty when that script has not been run.
 */
export async function loadInterfaceFiles(): Promise<InterfaceFiles> {
  try {
    return (await import('#interface')).files
  } catch {
    return {}
  }
}
