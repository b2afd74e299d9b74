// @ts-expect-error: Bun exports the path of the file, and not what its types say.
import enginePath from 'unpdf/pdfjs' with { type: 'file' }

export type PdfEngine = typeof import('unpdf/pdfjs')

/**
 * Loads PDF.js. Embedded as a file: as a part of the bundle, its bytecode and source map would take 6 MB of the
 * executable.
 */
export async function loadPdfEngine(): Promise<PdfEngine> {
  return (await import(enginePath as string)) as PdfEngine
}
