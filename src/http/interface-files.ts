/** A file of the editor: the paths of its compressed forms, or of the file itself where compression gains nothing. */
export type InterfaceFile = { type: string; etag: string; br?: string; gz?: string; plain?: string }

/** By the path that a browser asks for; `/` is the page itself. */
export type InterfaceFiles = Readonly<Record<string, InterfaceFile | undefined>>

/**
 * The editor's files, loaded when somebody first asks: the executable carries them, a service that runs from source reads
 * them where `bun scripts/build-interface.ts` put them. None when it has not been called.
 */
export async function loadInterfaceFiles(): Promise<InterfaceFiles> {
  try {
    return (await import('#interface')).files
  } catch {
    return {}
  }
}
