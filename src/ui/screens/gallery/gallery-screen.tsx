import { useQuery } from '@tanstack/react-query'
import { Search, SearchX } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import { call, type ResponseOf } from '../../api/call.ts'
import { BlockIcon } from '../../editor/canvas/block-icon.tsx'
import { Badge } from '../../parts/badge.tsx'
import { classes } from '../../parts/class-names.ts'
import { Input } from '../../parts/field.tsx'
import { findItems } from '../../parts/find.ts'
import { useSingleKeys } from '../../parts/keys.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Page, PageBody } from '../../shell/page.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'
import { GalleryPanel } from './gallery-panel.tsx'

export type GalleryItem = ResponseOf<'GET /api/editor/gallery'>['data'][number]

/** Ready workflows to start from. The search text and the open workflow are in the address. */
export function GalleryScreen() {
  const { id: workspaceId } = useWorkspace()
  const [search, setSearch] = useSearchParams()
  const typed = search.get('q') ?? ''
  const openId = search.get('workflow')
  const finder = useRef<HTMLInputElement>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['gallery'],
    queryFn: async ({ signal }) => (await call('GET /api/editor/gallery', { signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  })
  useSingleKeys({ '/': () => finder.current?.focus() })
  const set = (member: 'q' | 'workflow', value: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(member)
        else next.set(member, value)
        return next
      },
      { replace: true },
    )
  const found = findItems(data ?? [], typed, textOf)
  const open = data?.find(({ id }) => id === openId)
  return (
    <Page title="Gallery" crumbs={[{ label: 'Workflows', href: `/w/${workspaceId}/workflows` }]}>
      <div className="flex min-h-0 flex-1">
        <PageBody>
          {error ? (
            <Failed error={error} retry={() => void refetch()} />
          ) : !data ? (
            <Loading />
          ) : (
            <>
              <div className="relative mb-5 max-w-88">
                <Search
                  size={15}
                  className="pointer-events-none absolute top-2 left-2.5 text-muted"
                  aria-hidden="true"
                />
                <Input
                  ref={finder}
                  type="search"
                  aria-label="Search the gallery"
                  placeholder="Search by name, block or purpose"
                  className="pl-8"
                  value={typed}
                  onChange={(event) => set('q', event.target.value)}
                />
              </div>
              {found.length === 0 ? (
                <Empty icon={<SearchX size={22} />} title="No matching workflows">
                  No workflow of the gallery matches “{typed}”.
                </Empty>
              ) : (
                groupsOf(found, typed).map(({ title, items }) => (
                  <section key={title} className="mb-7" aria-label={title}>
                    <h2 className="mb-2.5 text-sm font-semibold">{title}</h2>
                    <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,17rem),1fr))] gap-3">
                      {items.map((item) => (
                        <Card
                          key={item.id}
                          item={item}
                          current={item.id === openId}
                          onOpen={() => set('workflow', item.id)}
                        />
                      ))}
                    </ul>
                  </section>
                ))
              )}
            </>
          )}
        </PageBody>
        {open && <GalleryPanel key={open.id} item={open} onClose={() => set('workflow', '')} />}
      </div>
    </Page>
  )
}

function Card({ item, current, onOpen }: { item: GalleryItem; current: boolean; onOpen: () => void }) {
  const { document, needs } = item
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (current) button.current?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <li>
      <button
        ref={button}
        type="button"
        aria-pressed={current}
        onClick={onOpen}
        className={classes(
          'flex h-full w-full cursor-default flex-col gap-2 rounded-lg border bg-surface p-3.5 text-left transition-colors hover:border-line-strong hover:bg-hover',
          current ? 'border-accent' : 'border-line',
        )}
      >
        <span className="flex gap-1">
          {typesOf(document).map((type) => (
            <BlockIcon key={type} type={type} size="small" />
          ))}
        </span>
        <span className="text-sm font-medium">{document.name}</span>
        <span className="flex-1 text-xs text-muted">{document.description}</span>
        <span>
          {needs.length === 0 ? (
            <Badge tone="ok">Runs at once</Badge>
          ) : (
            <Badge>
              {needs.length === 1 ? 'Needs 1 environment variable' : `Needs ${needs.length} environment variables`}
            </Badge>
          )}
        </span>
      </button>
    </li>
  )
}

/** The items by category. Search results are one group, best first. */
function groupsOf(items: readonly GalleryItem[], typed: string): { title: string; items: readonly GalleryItem[] }[] {
  if (typed.trim() !== '') return [{ title: 'Results', items }]
  return [...Map.groupBy(items, ({ category }) => category)].map(([title, group]) => ({ title, items: group }))
}

function textOf({ document, category, needs }: GalleryItem): string {
  const types = typesOf(document).map((type) => type.replaceAll('_', ' '))
  return [document.name, document.description, category, ...types, ...needs.map(({ name }) => name)].join(' ')
}

function typesOf({ blocks }: GalleryItem['document']): string[] {
  return [...new Set(Object.values(blocks).map(({ type }) => type))]
}
