import type { Secret } from '../../domain/redaction/redactor.ts'
import type { Slices } from '../../domain/slices.ts'
import { segmentsOf } from '../../domain/workflow/reference.ts'
import type { GraphNode } from './graph.ts'
import type { ReferenceResolver } from './reference-resolver.ts'
import type { Report } from './report.ts'
import { isSealed, isWritten, mapBlockSecrets, type SecretPlace, secretsIn } from './secret-parameters.ts'

/**
 * Returns the secrets that are written in a block's parameters, and suggests environment variables for them. Notes the
 * variables in literal parameters, such as the password of a chat: the trigger reads them, not the plan.
 */
export function* reportSecrets(node: GraphNode, report: Report, resolver: ReferenceResolver): Slices<Secret[]> {
  const { id, block, definition } = node
  const secrets: Secret[] = []
  const literals: { text: string; path: string }[] = []
  yield* mapBlockSecrets(definition, block, (value, place) => {
    const path = `blocks.${id}.params.${place.path}`
    const subject = `The ${place.label} of "${block.name}"`
    if (isSealed(value)) {
      const message = `${subject} cannot be decrypted: its key is missing. Restore the key, or write the value again.`
      report.add('error', 'SECRET_UNREADABLE', path, block, message)
    }
    if (place.isLiteral && typeof value === 'string') literals.push({ text: value, path })
    if (!isWritten(value, place)) return value
    secrets.push(...secretsIn(value, place))
    const message =
      `${subject} is written in the document. Store it as an environment variable and refer to it, for example ` +
      `${exampleOf(place)}.`
    report.add('warning', 'WRITTEN_SECRET', path, block, message)
    return value
  })
  for (const { text, path } of literals) {
    yield
    for (const segment of segmentsOf(text)) {
      if (segment.kind !== 'environment') continue
      resolver.noteVariable(segment.name, { node, scope: node.scope, path })
      yield
    }
  }
  return secrets
}

/** `{{CHAT_PASSWORD}}` for the password of a block "Chat". */
function exampleOf({ block, label }: SecretPlace): string {
  const words = `${block.name} ${label.replace(/^header /, '')}`.toUpperCase().match(/[A-Z0-9]+/g) ?? []
  const name = words.join('_').slice(0, 60)
  return `{{${/^[A-Z]/.test(name) ? name : `MY_${name}`}}}`
}
