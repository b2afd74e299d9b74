import type { Secret } from '../../domain/redaction/redactor.ts'
import type { GraphNode } from './graph.ts'
import type { Report } from './report.ts'
import { isSealed, isWritten, mapBlockSecrets, type SecretPlace, secretsIn } from './secret-parameters.ts'

/** Returns the secrets that are written in a block's parameters, and suggests environment variables for them. */
export function reportSecrets({ id, block, definition }: GraphNode, report: Report): Secret[] {
  const secrets: Secret[] = []
  mapBlockSecrets(definition, block, (value, place) => {
    const path = `blocks.${id}.params.${place.path}`
    const subject = `The ${place.label} of "${block.name}"`
    if (isSealed(value)) {
      const message = `${subject} cannot be decrypted: its key is missing. Restore the key, or write the value again.`
      report.add('error', 'SECRET_UNREADABLE', path, block, message)
    }
    if (!isWritten(value, place)) return value
    secrets.push(...secretsIn(value, place))
    const message =
      `${subject} is written in the document. Store it as an environment variable and refer to it, for example ` +
      `${exampleOf(place)}.`
    report.add('warning', 'WRITTEN_SECRET', path, block, message)
    return value
  })
  return secrets
}

/** `{{CHAT_PASSWORD}}` for the password of a block "Chat". */
function exampleOf({ block, label }: SecretPlace): string {
  const words = `${block.name} ${label.replace(/^header /, '')}`.toUpperCase().match(/[A-Z0-9]+/g) ?? []
  const name = words.join('_').slice(0, 60)
  return `{{${/^[A-Z]/.test(name) ? name : `MY_${name}`}}}`
}
