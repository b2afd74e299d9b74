import { type Document, normaliseName, type Params } from '../document/document.ts'
import { applyEdit, type Edit } from '../document/edit.ts'
import { namesInReferences, referableNames } from '../document/references.ts'
import { referenceNames } from '../document/rewrite.ts'
import { type PathStep, type Place, type PlacePart, placeKey, placesOf, type SearchedType } from './places.ts'
import type { Match } from './search.ts'

export type ReplacingType = SearchedType & { starts: string | null }
type Types = ReadonlyMap<string, ReplacingType>

export type Replacement = {
  edit?: Edit
  /** How many matches the edit replaces, and how many it leaves as they are. */
  replaced: number
  kept: number
  /** How many references to blocks change, and how many then refer to no block. */
  references: number
  broken: number
  /** Why nothing can be replaced. */
  problem?: string
}

/**
 * The edit that replaces matches. A renamed block takes its references along, except where a match is in the name of
 * the reference: there, the replacement itself decides.
 */
export function replacementOf(
  document: Document,
  types: Types,
  places: readonly Place[],
  matches: readonly Match[],
): Replacement {
  const nothing = { replaced: 0, kept: matches.length, references: 0, broken: 0 }
  const byPlace = Map.groupBy(matches, ({ place }) => place)
  const texts = new Map<string, Match[]>()
  let kept = 0
  for (const [index, inPlace] of byPlace) {
    const place = places[index]
    if (place && !place.isFixed && fits(place, inPlace)) texts.set(placeKey(place), inPlace)
    else kept += inPlace.length
  }
  const changed = places.filter((place) => texts.has(placeKey(place)))
  const named = namesOf(document, changed, texts)
  if ('problem' in named) return { ...nothing, problem: named.problem }
  const { names } = named
  const work: Work = { texts, names: referenceNames(document, names), refused: 0 }
  const values = {
    params: valuesOf(document, changed, 'params', work),
    settings: valuesOf(document, changed, 'settings', work),
  }
  const edit: Edit = { kind: 'rewrite', names, ...values, notes: notesOf(changed, texts) }
  kept += work.refused
  const after = applyEdit(document, edit)
  return { edit, replaced: matches.length - kept, kept, ...referenceChanges(document, after, types) }
}

type Work = {
  texts: ReadonlyMap<string, readonly Match[]>
  /** New names of blocks by their old ones, normalised. */
  names: ReadonlyMap<string, string>
  /** Matches that could not be replaced. */
  refused: number
}

/** A number must stay a number, and a name must not be empty. */
function fits({ kind, part, text }: Place, matches: readonly Match[]): boolean {
  const next = substituted(text, matches).trim()
  if (kind === 'number') return next !== '' && Number.isFinite(Number(next))
  if (part === 'name') return next !== '' && next.length <= 200
  return kind !== 'key' || next !== ''
}

function substituted(text: string, parts: readonly Pick<Match, 'from' | 'to' | 'insert'>[]): string {
  let next = ''
  let at = 0
  for (const { from, to, insert } of parts) {
    next += text.slice(at, from) + insert
    at = to
  }
  return next + text.slice(at)
}

/** The new names of blocks, by id. No two blocks may get the same one. */
function namesOf(
  { blocks }: Document,
  changed: readonly Place[],
  texts: Work['texts'],
): { names: Record<string, string> } | { problem: string } {
  const names = Object.fromEntries(
    changed.flatMap((place) =>
      place.part === 'name' ? [[place.owner, substituted(place.text, texts.get(placeKey(place))!).trim()]] : [],
    ),
  )
  const taken = new Set<string>()
  for (const { id, name } of Object.values(blocks)) {
    const next = names[id] ?? name
    if (taken.has(normaliseName(next))) {
      return { problem: `Two blocks would be named “${next}”. References identify blocks by name.` }
    }
    taken.add(normaliseName(next))
  }
  return { names }
}

function notesOf(changed: readonly Place[], texts: Work['texts']): Record<string, string> {
  const notes = changed.filter(({ part }) => part === 'note')
  return Object.fromEntries(
    notes.map((place) => [place.owner, substituted(place.text, texts.get(placeKey(place))!).slice(0, 20_000)]),
  )
}

/** The new values of each changed parameter or setting, by block. */
function valuesOf(
  document: Document,
  changed: readonly Place[],
  part: 'params' | 'settings',
  work: Work,
): Record<string, Params> {
  const owners = Map.groupBy(
    changed.filter((place) => place.part === part),
    ({ owner }) => owner,
  )
  return Object.fromEntries(
    [...owners].map(([owner, places]) => {
      const settings = document.loops?.[owner] ?? document.parallels?.[owner]
      const before: Params = (part === 'params' ? document.blocks[owner]?.params : settings) ?? {}
      const names = new Set(places.map(({ path }) => String(path[0])))
      const values = [...names].map((name) => [name, rewritten(before[name], { owner, part }, [name], work)])
      return [owner, Object.fromEntries(values)]
    }),
  )
}

type Owner = { owner: string; part: PlacePart }

function rewritten(value: unknown, owner: Owner, path: readonly PathStep[], work: Work): unknown {
  const matchesAt = (kind: Place['kind'], at = path) =>
    work.texts.get(placeKey({ ...owner, kind, path: at, label: '', text: '', isFixed: false }))
  if (typeof value === 'string') return rewrittenText(value, matchesAt('text') ?? [], work.names)
  if (typeof value === 'number') {
    const matches = matchesAt('number')
    return matches ? Number(substituted(String(value), matches).trim()) : value
  }
  if (Array.isArray(value)) return value.map((item, index) => rewritten(item, owner, [...path, index], work))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const taken = new Set(members.map(([key]) => key))
  return Object.fromEntries(
    members.map(([key, inner]) => {
      const at = [...path, key]
      const matches = matchesAt('key', at)
      const next = matches ? substituted(key, matches) : key
      const isFree = next === key || !taken.has(next)
      if (!isFree) work.refused += matches?.length ?? 0
      else taken.add(next)
      return [isFree ? next : key, rewritten(inner, owner, at, work)]
    }),
  )
}

function rewrittenText(text: string, matches: readonly Match[], names: Work['names']): string {
  // Both lists are in the order of the text.
  let at = 0
  const followed = namesInReferences(text).flatMap(({ name, from, to }) => {
    const insert = names.get(name)
    while (at < matches.length && matches[at]!.to <= from) at += 1
    const isTouched = at < matches.length && matches[at]!.from < to
    return insert === undefined || isTouched ? [] : [{ from, to, insert }]
  })
  const parts = [...matches, ...followed].toSorted((a, b) => a.from - b.from)
  return substituted(text, parts)
}

/** Compares the references of every block before and after. */
function referenceChanges(before: Document, after: Document, types: Types): { references: number; broken: number } {
  const startsOf = (type: string) => types.get(type)?.starts ?? null
  const [then, now] = [referableNames(before, startsOf), referableNames(after, startsOf)]
  const textsOf = (document: Document) =>
    Map.groupBy(
      placesOf(document, types).filter(
        ({ part, kind }) => (part === 'params' || part === 'settings') && kind === 'text',
      ),
      ({ owner, part, path }) => JSON.stringify([owner, part, path[0]]),
    )
  const old = textsOf(before)
  let references = 0
  let broken = 0
  for (const [key, places] of textsOf(after)) {
    const was = (old.get(key) ?? []).flatMap(({ text }) => namesInReferences(text))
    const is = places.flatMap(({ text }) => namesInReferences(text))
    const changes = is.filter(({ name }, index) => was[index]?.name !== name).length
    references += Math.max(changes, Math.abs(was.length - is.length))
    const lost = was.filter(({ name }) => then.has(name)).length - is.filter(({ name }) => now.has(name)).length
    const stray = is.filter(({ name }) => !now.has(name)).length - was.filter(({ name }) => !then.has(name)).length
    broken += Math.max(0, Math.min(lost, stray))
  }
  return { references, broken }
}
