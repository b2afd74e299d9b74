import { useQuery } from '@tanstack/react-query'
import { Folder, Radio, SlidersHorizontal, Workflow, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { Field, Input, TextArea, TextField } from '../../parts/field.tsx'
import { Hint } from '../../parts/hint.tsx'
import { type Choice, MultiPick } from '../../parts/multi-pick.tsx'
import { Popover } from '../../parts/popover.tsx'
import { Segments } from '../../parts/segments.tsx'
import { keyOf } from '../../shell/palette/key-table.ts'
import { isFiltered, type LogFilter, noFilter, type Trigger, triggers } from './log-filter.ts'
import { workflowNamesQuery } from './log-queries.ts'
import { triggerIcons, triggerLabels } from './log-texts.tsx'
import { RangePick } from './range-pick.tsx'
import { SearchBox } from './search-box.tsx'

/** The filters of the log. On a narrow page, a button shows and hides all of them except the search. */
export function FilterBar({
  workspaceId,
  filter,
  onChange,
  isLive,
  onLive,
}: {
  workspaceId: string
  filter: LogFilter
  onChange: (change: Partial<LogFilter>) => void
  isLive: boolean
  onLive: (isLive: boolean) => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const count = countOf(filter)
  return (
    <div
      role="toolbar"
      aria-label="Filters"
      className="relative flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:px-6"
    >
      <SearchBox value={filter.search} onChange={(search) => onChange({ search })} />
      <Button
        aria-expanded={isOpen}
        icon={<SlidersHorizontal size={14} aria-hidden="true" />}
        onClick={() => setIsOpen(!isOpen)}
        className={classes('md:hidden', count > 0 && chosenLook)}
      >
        {count > 0 ? `Filters: ${count}` : 'Filters'}
      </Button>
      <Hint
        text={isLive ? 'New entries appear automatically' : 'Show new entries as they arrive'}
        keys={keyOf('log-live')}
      >
        <Button
          aria-pressed={isLive}
          onClick={() => onLive(!isLive)}
          className={classes('md:order-last md:ml-auto', isLive && chosenLook)}
          icon={<Radio size={14} aria-hidden="true" className={isLive ? 'animate-pulse' : 'text-muted'} />}
        >
          Live
        </Button>
      </Hint>
      <div className={classes('md:contents', isOpen ? 'flex w-full flex-wrap gap-2' : 'hidden')}>
        <RangePick range={filter.range} onChange={(range) => onChange({ range })} />
        <Segments
          label="Result"
          value={filter.status ?? 'all'}
          onChange={(status) => onChange({ status: status === 'all' ? undefined : status })}
          options={[
            { value: 'all', label: 'All' },
            { value: 'success', label: 'Succeeded' },
            { value: 'error', label: 'Failed' },
            { value: 'cancelled', label: 'Cancelled' },
          ]}
        />
        <WorkflowPick workspaceId={workspaceId} filter={filter} onChange={onChange} />
        <MultiPick
          label="Trigger"
          choices={triggers.map((value) => ({ value, label: triggerLabels[value], icon: triggerIcons[value] }))}
          chosen={filter.triggers}
          onChange={(chosen) => onChange({ triggers: chosen as Trigger[] })}
        />
        <MorePick filter={filter} onChange={onChange} />
        {isFiltered(filter) && (
          <Button
            look="quiet"
            icon={<X size={14} aria-hidden="true" />}
            onClick={() => onChange({ ...noFilter, range: filter.range })}
          >
            Clear
          </Button>
        )}
      </div>
    </div>
  )
}

/** The look of a button whose filter or mode is on. */
const chosenLook = 'border-accent! bg-accent-soft! text-accent-text!'

/** How many filters are set, besides the search and the time range. */
function countOf(filter: LogFilter): number {
  const { status, workflowIds, folderIds, triggers: chosen } = filter
  const lists = [workflowIds, folderIds, chosen].filter(({ length }) => length > 0)
  return lists.length + (status === undefined ? 0 : 1) + moreCountOf(filter)
}

type Change = { filter: LogFilter; onChange: (change: Partial<LogFilter>) => void }

/** Workflows and folders in one list. A folder stands for everything in it. */
function WorkflowPick({ workspaceId, filter, onChange }: Change & { workspaceId: string }) {
  const workflows = useQuery(workflowNamesQuery(workspaceId))
  const folders = useQuery({
    queryKey: ['folders', workspaceId],
    queryFn: ({ signal }) => call('GET /api/folders', { query: { workspaceId }, signal }),
    staleTime: 30_000,
  })
  const all = workflows.data?.data ?? []
  const inFolder = (path: string | null, depth: number): Choice[] =>
    all
      .filter(({ folder }) => (folder || null) === path)
      .map(({ id, name }) => ({
        value: `w:${id}`,
        label: name,
        icon: <Workflow size={14} aria-hidden="true" />,
        depth,
      }))
      .toSorted((a, b) => a.label.localeCompare(b.label))
  const choices = [
    ...inFolder(null, 0),
    ...(folders.data?.data ?? []).flatMap(({ id, path }) => {
      const depth = path.split('/').length
      const label = path.split('/').at(-1) ?? path
      const folder = { value: `f:${id}`, label, icon: <Folder size={14} aria-hidden="true" />, depth: depth - 1 }
      return [folder, ...inFolder(path, depth)]
    }),
  ]
  const pick = (kind: 'w' | 'f', chosen: readonly string[]) =>
    chosen.flatMap((value) => (value.startsWith(`${kind}:`) ? [value.slice(2)] : []))
  return (
    <MultiPick
      label="Workflow"
      choices={choices}
      chosen={[...filter.workflowIds.map((id) => `w:${id}`), ...filter.folderIds.map((id) => `f:${id}`)]}
      onChange={(chosen) => onChange({ workflowIds: pick('w', chosen), folderIds: pick('f', chosen) })}
    />
  )
}

const noMore: Partial<LogFilter> = {
  ...{ minDurationMs: undefined, maxDurationMs: undefined, minCost: undefined, maxCost: undefined },
  ...{ model: undefined, executionId: undefined, labels: [] },
}

function moreCountOf({
  minDurationMs,
  maxDurationMs,
  minCost,
  maxCost,
  model,
  executionId,
  labels,
}: LogFilter): number {
  const single = [minDurationMs, maxDurationMs, minCost, maxCost, model, executionId]
  return single.filter((x) => x !== undefined).length + labels.length
}

/** The less common filters. */
function MorePick({ filter, onChange }: Change) {
  const [isOpen, setIsOpen] = useState(false)
  const { minDurationMs, maxDurationMs, minCost, maxCost, model, executionId, labels } = filter
  const count = moreCountOf(filter)
  const models = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => call('GET /api/editor/models', { signal }),
    enabled: isOpen,
    staleTime: 300_000,
  })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const text = (name: string) => String(fields.get(name) ?? '').trim() || undefined
    const number = (name: string) => (text(name) === undefined ? undefined : Number(text(name)))
    onChange({
      ...{ minDurationMs: number('minDurationMs'), maxDurationMs: number('maxDurationMs') },
      ...{ minCost: number('minCost'), maxCost: number('maxCost') },
      ...{ model: text('model'), executionId: text('executionId') },
      labels: String(fields.get('labels') ?? '')
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => /^[^:]+:/.test(line)),
    })
    setIsOpen(false)
  }
  return (
    <Popover
      open={isOpen}
      onOpenChange={setIsOpen}
      className="w-84 p-3"
      trigger={
        <Button icon={<SlidersHorizontal size={14} aria-hidden="true" />} className={classes(count > 0 && chosenLook)}>
          {count > 0 ? `More filters: ${count}` : 'More filters'}
        </Button>
      }
    >
      <form onSubmit={send} className="flex flex-col gap-3">
        <TextField label="Execution ID" name="executionId" defaultValue={executionId} className="font-mono" />
        <Field label="Labels" note="One on each line, such as customer:Acme">
          {(tied) => <TextArea {...tied} name="labels" rows={2} defaultValue={labels.join('\n')} />}
        </Field>
        <Between label="Duration" unit="ms" name="DurationMs" min={minDurationMs} max={maxDurationMs} />
        <Between label="Cost" unit="USD" name="Cost" min={minCost} max={maxCost} />
        <Field label="Model">
          {(tied) => (
            <>
              <Input {...tied} name="model" defaultValue={model} list="log-models" />
              <datalist id="log-models">
                {models.data?.data.map(({ model: name }) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <div className="flex justify-end gap-2">
          {count > 0 && (
            <Button
              look="quiet"
              onClick={() => {
                onChange(noMore)
                setIsOpen(false)
              }}
            >
              Clear
            </Button>
          )}
          <Button look="primary" type="submit">
            Apply
          </Button>
        </div>
      </form>
    </Popover>
  )
}

function Between(props: {
  label: string
  unit: string
  name: string
  min: number | undefined
  max: number | undefined
}) {
  const { label, unit, name, min, max } = props
  return (
    <fieldset>
      <legend className="pb-1 text-xs font-medium">
        {label} <span className="font-normal text-muted">in {unit}</span>
      </legend>
      <div className="flex items-center gap-2">
        {(['min', 'max'] as const).map((end) => (
          <Input
            key={end}
            name={end + name}
            type="number"
            min={0}
            step="any"
            aria-label={`${label}, ${end === 'min' ? 'at least' : 'at most'}, ${unit}`}
            placeholder={end === 'min' ? 'at least' : 'at most'}
            defaultValue={end === 'min' ? min : max}
          />
        ))}
      </div>
    </fieldset>
  )
}
