import { problemsMax } from '../../../domain/errors.ts'

/** The first members of a body that are not in `known`. Stops early, because a body may have a million members. */
export function othersIn(body: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  const names = new Set(known)
  const others: string[] = []
  for (const name in body) {
    if (!names.has(name)) others.push(name)
    if (others.length >= problemsMax) break
  }
  return others
}
