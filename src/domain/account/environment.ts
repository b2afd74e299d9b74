import type { Redactor } from '../redaction/redactor.ts'

/** The environment variables of a workspace, as its runs see them. */
export type Environment = {
  readonly values: ReadonlyMap<string, string>
  /** Undefined when no variable is secret. */
  readonly redactor: Redactor | undefined
}

export const noEnvironment: Environment = Object.freeze({ values: new Map<string, string>(), redactor: undefined })

/** The limits of a workspace's environment. */
export const environmentBounds = Object.freeze({
  nameCharsMax: 128,
  /** UTF-8 bytes of one value. */
  valueBytesMax: 65_536,
  variablesMax: 500,
  /** UTF-8 bytes of all values together. */
  bytesMax: 1_048_576,
})

/** The length of each key in `MILLRACE_SECRET_KEY`. */
export const secretKeyCharsMin = 32

/** `{{NAME}}` in a text. */
export const variableReference = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g

/** Explains what is wrong with the name of a variable; undefined when the name is valid. */
export function variableNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `"${name.slice(0, 100)}" is not a valid variable name. Use letters, digits and _; do not start with a digit.`
  }
  if (name.length <= environmentBounds.nameCharsMax) return undefined
  return `A variable name has at most ${environmentBounds.nameCharsMax} characters; this one has ${name.length}.`
}

/** Explains what is wrong with the value of a variable. Never contains the value. */
export function variableValueProblem(value: string): string | undefined {
  if (!value.isWellFormed()) return 'The value is not valid text: it contains half of a character (a lone surrogate).'
  const bytes = Buffer.byteLength(value)
  if (bytes <= environmentBounds.valueBytesMax) return undefined
  return `The value has ${bytes} bytes. The limit is ${environmentBounds.valueBytesMax} bytes.`
}

/** The context to which the encryption of a value is bound. */
export function variableContext(workspaceId: string, name: string): string {
  return `environment/${workspaceId}/${name}`
}
