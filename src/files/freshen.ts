import type { RunFile } from '../domain/file.ts'

/**
 * Gives file objects in a text of JSON new URLs. A file object is known by its URL: the one that was recorded with its
 * run. One pass over the text, however many files there are; `expiresAt` is renewed where it follows as it was written.
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
  return text.replace(fileObject, (whole, url: string, between: string, expiry: string | undefined) => {
    const fresh = known.get(url)
    if (!fresh) return whole
    return `"url":${JSON.stringify(fresh.url)}${between}${expiry === undefined ? '' : `,"expiresAt":"${fresh.expiresAt}"`}`
  })
}

/** From the URL to the expiry, with the members that stand between them. Quotes inside other texts are escaped. */
const fileObject =
  /"url":"([^"\\]*)"((?:,"(?:name|type|uploadedAt)":"(?:[^"\\]|\\.)*"|,"size":\d+)*)(,"expiresAt":"[^"\\]*")?/g
