import { useQuery } from '@tanstack/react-query'
import { Download, ExternalLink } from 'lucide-react'
import { credentialKind } from '../../../../domain/credential/kinds.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../../parts/dialog.tsx'
import { saveJson } from '../../../parts/save-json.ts'
import { Failed, Loading } from '../../../parts/states.tsx'
import { connectorQuery } from '../../../shell/connectors-query.ts'
import { useWorkspace } from '../../../shell/workspace.tsx'
import { Facts } from '../section.tsx'

/** A connector: where it sends requests, how it signs in, how it was checked, and its operations. */
export function ConnectorDetails({ connectorId, onClose }: { connectorId: string; onClose: () => void }) {
  const { id } = useWorkspace()
  const { data, error, refetch } = useQuery(connectorQuery(id, connectorId))
  const kinds = (data?.credentials ?? []).map(({ kind, label }) => label ?? credentialKind(kind)?.label ?? kind)
  return (
    <Dialog title={data?.name ?? connectorId} description={data?.description} width="wide" onClose={onClose}>
      <DialogBody isRead>
        {error ? (
          <Failed error={error} retry={() => void refetch()} />
        ) : !data ? (
          <Loading lines={6} />
        ) : (
          <>
            <Facts
              facts={[
                { name: 'ID', value: <code className="font-mono text-xs">{data.id}</code> },
                { name: 'Base URL', value: <code className="font-mono text-xs">{data.baseUrl}</code> },
                { name: 'Credentials', value: kinds.length === 0 ? 'None' : kinds.join(', ') },
                ...(data.checked === undefined ? [] : [{ name: 'Checked', value: data.checked }]),
                ...(data.documentation === undefined
                  ? []
                  : [{ name: 'Provider', value: <ProviderLink url={data.documentation} /> }]),
              ]}
            />
            <ul className="divide-y divide-line rounded-lg border border-line">
              {Object.entries(data.operations).map(([name, { label, description, method, path }]) => (
                <li key={name} className="px-3 py-2 text-sm">
                  <p className="font-medium">{label}</p>
                  <p className="font-mono text-xs break-all text-muted">
                    {method} {path}
                  </p>
                  {description !== undefined && <p className="line-clamp-3 text-muted">{description}</p>}
                </li>
              ))}
            </ul>
          </>
        )}
      </DialogBody>
      {data && (
        <DialogActions>
          <Button icon={<Download size={15} aria-hidden="true" />} onClick={() => saveJson(`${data.id}.json`, data)}>
            Download JSON
          </Button>
        </DialogActions>
      )}
    </Dialog>
  )
}

function ProviderLink({ url }: { url: string }) {
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="inline-flex items-center gap-1 break-all text-accent-text underline underline-offset-2"
    >
      Documentation <ExternalLink size={12} className="shrink-0" aria-hidden="true" />
    </a>
  )
}
