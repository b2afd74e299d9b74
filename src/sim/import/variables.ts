import { normaliseName } from '../../domain/workflow/reference.ts'
import type { Variable } from '../../domain/workflow/workflow.ts'
import type { SimDocument, SimVariable } from '../sim-document.ts'
import { FreeTexts } from './free-texts.ts'
import { parseJson } from './sim-values.ts'

export type ImportedVariables = { variables: Map<string, Variable>; names: string[]; notes: string[] }

/** `assigned`: the names of variables that blocks set. In Sim, a block may set a variable that is not declared. */
export function variablesOf({ variables }: SimDocument, assigned: Iterable<string>): ImportedVariables {
  const found = new Map<string, Variable>()
  const notes: string[] = []
  const names = new FreeTexts(['__proto__'])
  for (const variable of variables) {
    const name = names.free(variable.name || 'variable', (number) => `${plainName(variable.name)}${number}`)
    if (name !== variable.name) notes.push(`The variable "${variable.name}" is now called "${name}".`)
    found.set(name, { type: variable.type, value: variableValue(variable) })
  }
  const known = new Set(Array.from(found.keys(), normaliseName))
  for (const name of assigned) {
    if (name === '' || name === '__proto__' || known.has(normaliseName(name))) continue
    known.add(normaliseName(name))
    found.set(name, { type: 'plain', value: null })
    notes.push(`A block sets the variable "${name}", which the file does not declare. The import declared it.`)
  }
  return { variables: found, names: [...found.keys()], notes }
}

function plainName(name: string): string {
  return name === '' || name === '__proto__' ? 'variable' : name
}

/** Sim stores most values as text. */
function variableValue({ type, value }: SimVariable): unknown {
  if (typeof value !== 'string' || type === 'string' || type === 'plain') return value
  return parseJson(value) ?? value
}
