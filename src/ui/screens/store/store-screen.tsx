import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Archive, Download, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { call } from '../../api/call.ts'
import { bytesText } from '../../parts/amount-text.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { Input, Select } from '../../parts/field.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { Page } from '../../shell/page.tsx'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { workflowNamesQuery } from '../logs/log-queries.ts'
import { EntryDialog } from './entry-dialog.tsx'
import { type Entry, entriesQuery, exportAddress, lineOf, scopeQuery } from './entry-queries.ts'

/** The entries that workflows keep between their runs. The workflow and the search are stored in the URL. */
export function StoreScreen() {
  const { id: workspaceId, name } = useWorkspace()
  const mayWrite = useMayWrite()
  const queries = useQueryClient()
  const toast = useToast()
  const [search, setSearch] = useSearchParams()
  const [opened, setOpened] = useState<Entry | 'new'>()
  const [removed, setRemoved] = useState<Entry>()
  const names = useQuery(workflowNamesQuery(workspaceId))
  const scope = { workspaceId, workflowId: search.get('workflow') ?? undefined }
  const prefix = search.get('prefix') ?? ''
  const pages = useInfiniteQuery(entriesQuery(scope, prefix))
  const go = (change: Record<string, string>) =>
    setSearch(
      (before) =>
        new URLSearchParams(
          Object.entries({ ...Object.fromEntries(before), ...change }).filter(([, value]) => value !== ''),
        ),
      { replace: true },
    )
  useCommands(
    mayWrite
      ? [
          {
            id: 'new-entry',
            label: 'New store entry',
            group: 'Create',
            icon: <Archive size={15} />,
            run: () => setOpened('new'),
          },
        ]
      : [],
  )
  const entries = pages.data?.pages.flatMap(({ data }) => data) ?? []
  const usage = pages.data?.pages.at(-1)?.usage
  const add = mayWrite && (
    <Button look="primary" icon={<Plus size={15} aria-hidden="true" />} onClick={() => setOpened('new')}>
      New entry
    </Button>
  )
  return (
    <Page title="Store" crumbs={[{ label: name }]} actions={<DocsLink to={docs.memory} />}>
      <div
        role="toolbar"
        aria-label="Filters"
        className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:px-6"
      >
        <Select
          aria-label="Entries of"
          className="max-w-56"
          value={scope.workflowId ?? ''}
          options={[
            { value: '', label: 'The workspace' },
            ...(names.data?.data ?? []).map((workflow) => ({ value: workflow.id, label: workflow.name })),
          ]}
          onChange={({ target: { value } }) => go({ workflow: value })}
        />
        <Input
          aria-label="Key begins with"
          placeholder="Key begins with…"
          className="max-w-64 font-mono text-xs"
          type="search"
          maxLength={512}
          value={prefix}
          onChange={({ target: { value } }) => go({ prefix: value })}
        />
        <span className="ml-auto flex items-center gap-2">
          {usage && (
            <span className="text-xs text-muted max-md:hidden">
              {bytesText(usage.bytes)} of {bytesText(usage.bytesMax)} used
            </span>
          )}
          <a
            className="inline-flex items-center gap-1.5 text-sm text-accent-text hover:underline"
            href={exportAddress(scope, prefix)}
            download
          >
            <Download size={15} aria-hidden="true" />
            Export
          </a>
          {entries.length > 0 && add}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section aria-label="List" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto -outline-offset-2">
        <div className="flex min-h-full w-full max-w-280 flex-col px-4 py-5 md:px-6">
          {pages.error ? (
            <Failed error={pages.error} retry={() => void pages.refetch()} />
          ) : !pages.data ? (
            <Loading />
          ) : entries.length === 0 ? (
            <Empty
              icon={<Archive size={22} />}
              title={prefix === '' ? 'No entries yet' : 'No key begins with this text'}
              action={add}
            >
              The block Store keeps values here between the runs of workflows.
            </Empty>
          ) : (
            <Table label="Entries" wideOnly={[2, 3]} head={['Key', 'Value', 'Updated', 'Expires', '']}>
              {entries.map((entry) => (
                <Row key={entry.key}>
                  <Cell className="max-w-72 max-md:max-w-40 font-mono text-xs font-medium">
                    <button
                      type="button"
                      className="block max-w-full truncate text-left text-accent-text hover:underline"
                      title={entry.key}
                      onClick={() => setOpened(entry)}
                    >
                      {entry.key}
                    </button>
                  </Cell>
                  <Cell className="max-w-80 truncate font-mono text-xs text-muted max-md:max-w-24">
                    {lineOf(entry.value)}
                  </Cell>
                  <Cell className="whitespace-nowrap text-muted max-md:hidden">
                    <TimeAgo at={entry.updatedAt} />
                  </Cell>
                  <Cell className="whitespace-nowrap text-muted max-md:hidden">
                    {entry.expiresAt ? new Date(entry.expiresAt).toLocaleString() : 'Never'}
                  </Cell>
                  <Cell className="text-right">
                    {mayWrite && (
                      <IconButton
                        label={`Delete ${entry.key}`}
                        size="small"
                        icon={<Trash2 size={15} />}
                        onClick={() => setRemoved(entry)}
                      />
                    )}
                  </Cell>
                </Row>
              ))}
            </Table>
          )}
          <ShowMore of={pages} />
        </div>
      </section>
      {opened && (
        <EntryDialog
          scope={scope}
          entry={opened === 'new' ? undefined : opened}
          mayWrite={mayWrite}
          onClose={() => setOpened(undefined)}
        />
      )}
      <Confirm
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title="Delete the entry?"
        action="Delete"
        onConfirm={async () => {
          const key = removed?.key ?? ''
          const query = scopeQuery(scope.workflowId)
          await call('DELETE /api/workspaces/:id/store/:key', { params: { id: workspaceId, key }, query })
          await queries.invalidateQueries({ queryKey: ['store', workspaceId] })
          toast.show({ text: `${key} was deleted.` })
        }}
      >
        Workflows that read <code className="font-mono break-all">{removed?.key}</code> find nothing from then on.
      </Confirm>
    </Page>
  )
}
