import { useQuery } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { connectorQuery } from '../../../shell/connectors-query.ts'
import { useWorkspace } from '../../../shell/workspace.tsx'
import { textOf } from '../../canvas/block-summary.ts'
import type { Params } from '../../document/document.ts'
import { OperationChoice } from './operation-choice.tsx'
import { OperationCredential } from './operation-credential.tsx'
import { ValueFields } from './value-field.tsx'

/** The service, the operation, the credential and the parameters of a call. */
export function OperationForm({
  params,
  onSet,
  onLeave,
  readOnly,
  errorOf,
}: {
  params: Params
  /** Sets several parameters at once; undefined removes one. */
  onSet: (changed: Params) => void
  /** Called when the focus leaves a field. */
  onLeave?: () => void
  readOnly: boolean
  errorOf: (path: string, isWhole?: boolean) => string | undefined
}) {
  const { id } = useWorkspace()
  const [connectorId, operationId, credential] = [params['connector'], params['operation'], params['credential']].map(
    textOf,
  ) as [string, string, string]
  const { data: connector } = useQuery(connectorQuery(id, connectorId))
  const operation =
    connector && Object.hasOwn(connector.operations, operationId) ? connector.operations[operationId] : undefined
  const values = (params['params'] ?? {}) as Readonly<Record<string, unknown>>
  const choices = {
    ...{ connector: connectorId, operation: operationId, credential, params: values },
    parameters: new Set(Object.keys(operation?.choices ?? {})),
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that the focus has left a field
    <div className="flex flex-col gap-4" onBlur={onLeave}>
      <OperationChoice
        connector={connectorId}
        operation={operationId}
        onChange={(chosen) => onSet(chosen.connector === connectorId ? chosen : { ...chosen, credential: undefined })}
        readOnly={readOnly}
        errorOf={(path) => errorOf(path, true)}
      />
      {connector && (
        <OperationCredential
          connector={connector}
          value={credential}
          onChange={(name) => onSet({ credential: name })}
          readOnly={readOnly}
          error={errorOf('credential')}
        />
      )}
      {operation?.parameters && (
        <ValueFields
          schema={operation.parameters}
          value={values}
          onChange={(next) => onSet({ params: Object.keys(next).length === 0 ? undefined : next })}
          readOnly={readOnly}
          errorOf={(path) => errorOf(`params.${path}`, true)}
          choices={choices}
        />
      )}
      {connector?.documentation && (
        <a
          className="inline-flex items-center gap-1 self-start text-xs text-muted underline"
          href={connector.documentation}
          target="_blank"
          rel="noreferrer"
        >
          Documentation of {connector.name} <ExternalLink size={12} aria-hidden="true" />
        </a>
      )}
    </div>
  )
}
