import { jsonDepthMax, jsonValuesMax, responseBytesMax } from '../domain/limits.ts'

/** The bounds of one job. Memory follows from them: nothing that a document says makes a job keep more. */

/** Bytes of JSON text, and values, that a job returns to its run. */
export const resultBytesMax = responseBytesMax
export const resultValuesMax = jsonValuesMax
export const depthMax = jsonDepthMax

/** Bytes of a document that is read as a whole: HTML, Markdown, XML and YAML. */
export const wholeBytesMax = 10_485_760
/** Bytes of a PDF file. */
export const pdfBytesMax = 20_971_520
/** Characters of one cell, or of one line of JSON Lines. */
export const cellCharsMax = 1_048_576
/** Cells of one row; XLSX allows no more. */
export const columnsMax = 16_384
/** Characters of one row. */
export const rowCharsMax = 8_388_608
