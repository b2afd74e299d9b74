import type { RunFile } from '../domain/run/file.ts'

/**
 * Replaces the URLs of file objects in JSON text. A file object is recognised by its URL: the one recorded with its
 * run. One pass over the text, however many files there are. `expiresAt` is updated if it follows as it was written.
 */
export async function freshenFiles(
  text: string,
  runFiles: readonly string[],
  sign: (key: string) => Promise<{ url: string; expiresAt: string }>,
): Promise<string> {
  const known = new Map<string, { url: string; expiresAt: string }>()
  for (const each of runFiles) {
    for (const { key, file } of JSON.parse(each) as RunFile[]) {
      if (key !== null && !known.has(file.url)) known.set(file.url, await sign(key))
    }
  }
  if (known.size === 0) return text
  return text.replace(fileObject, (whole, name: string, url: string, between: string, expiry: string | undefined) => {
    const fresh = known.get(url)
    if (!fresh) return whole
    const address = `"${name}":${JSON.stringify(fresh.url)}${between}`
    return expiry === undefined ? address : `${address},"expiresAt":"${fresh.expiresAt}"`
  })
}

/**
 * Matches a URL (`downloadPath` in `/api/v2`) and the expiry after it, with the members in between. Quotes inside other
 * strings are escaped.
 */
const fileObject =
  /"(url|downloadPath)":"([^"\\]*)"((?:,"(?:name|type|uploadedAt)":"(?:[^"\\]|\\.)*"|,"size":\d+)*)(,"expiresAt":"[^"\\]*")?/g
