import { Field } from '../../../parts/field.tsx'
import { CredentialField } from '../choices/credential-field.tsx'
import { TemplateField } from '../template-field.tsx'

/** The address of an MCP server, and the credential for it. */
export function ServerField({
  server,
  credential,
  onSet,
  readOnly,
  errorOf,
}: {
  server: string
  credential: string
  onSet: (changed: { server?: string; credential?: string | undefined }) => void
  readOnly: boolean
  errorOf: (path: string) => string | undefined
}) {
  return (
    <>
      <Field label="Server" error={errorOf('server')} note="The address of an MCP server.">
        {(tied) => (
          <TemplateField
            value={server}
            placeholder="https://mcp.example.com/mcp"
            readOnly={readOnly}
            onChange={(text) => onSet({ server: text.trim() })}
            tied={tied}
          />
        )}
      </Field>
      <Field label="Credential" optional error={errorOf('credential')}>
        {(tied) => (
          <CredentialField
            value={credential}
            onChange={(name) => onSet({ credential: name })}
            readOnly={readOnly}
            tied={tied}
            offers={URL.canParse(server) ? [{ kind: 'mcp_oauth', fields: { server } }] : []}
          />
        )}
      </Field>
    </>
  )
}
