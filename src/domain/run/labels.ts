/** Labels of a run: at most this many, with names and texts of at most this many characters. */
export const labelsMax = 20
export const labelCharsMax = 200

/** Why a label is refused; undefined when it is not. */
export function labelProblem(name: string, text: string): string | undefined {
  if (name === '') return 'A label has no name. Name it.'
  if (name.includes(':')) return `The label "${name}" needs another name: filters read the name up to the colon.`
  if (name.length > labelCharsMax) return `The name of a label has more than ${labelCharsMax} characters. Shorten it.`
  if (text.length <= labelCharsMax) return undefined
  return `The label "${name}" has ${text.length} characters, more than ${labelCharsMax}. Shorten it.`
}

export const tooManyLabels = `The run has more than ${labelsMax} labels. Remove some.`
