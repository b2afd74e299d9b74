import { folderDepthMax } from '../../domain/workflow/folders.ts'

/** The path of a folder in Sim's form: `sales/eu west` becomes `/sales/eu%20west`, and no folder becomes `/`. */
export function folderPathOf(folder: string | null | undefined): string {
  const steps = (folder ?? '').split('/').filter((step) => step !== '')
  return `/${steps.map(encodeStep).join('/')}`
}

/** The folder at a path; null for `/`; undefined if the text is not the path of a folder. */
export function folderAt(path: string): string | null | undefined {
  if (path.length > pathCharsMax) return undefined
  const text = path.startsWith('/') ? path.slice(1) : path
  if (text === '') return null
  const steps = text.split('/').map(decodeStep)
  if (steps.length > folderDepthMax || steps.includes(undefined)) return undefined
  return steps.join('/')
}

export const folderPathRule =
  'a path such as /sales/eu%20west, with percent-encoded steps that are not empty. The first slash is optional'

const pathCharsMax = 4096

/** Escapes everything except `A-Z a-z 0-9 - _ . ~`. */
function encodeStep(step: string): string {
  const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(step.toWellFormed()).replaceAll(/[!'()*]/g, escaped)
}

function decodeStep(text: string): string | undefined {
  try {
    const step = decodeURIComponent(text)
    const isStep = step.trim() !== '' && step !== '.' && step !== '..' && !/[/\p{Cc}]/u.test(step)
    return isStep && encodeStep(step) === text ? step : undefined
  } catch {
    return undefined
  }
}
