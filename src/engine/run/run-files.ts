import type { FileDrafts, FileObject, FileOwner, FileStore, LocalFile, RunFile } from '../../domain/run/file.ts'
import { folderOf } from '../../domain/run/file.ts'
import type { BlockFiles } from '../block.ts'

/** The files of one run and of all its sub-runs: those of its input, and those that its blocks store. */
export class RunFiles implements BlockFiles {
  readonly #owner: FileOwner
  readonly #store: FileStore
  readonly #files: RunFile[]

  constructor(owner: FileOwner, store: FileStore, given: readonly RunFile[] = []) {
    this.#owner = owner
    this.#store = store
    this.#files = [...given]
  }

  get all(): readonly RunFile[] {
    return this.#files
  }

  async store(content: Uint8Array, facts: Pick<FileObject, 'name' | 'type'>): Promise<FileObject> {
    const stored = await this.#store.store(this.#owner, content, facts)
    this.#files.push(stored)
    return stored.file
  }

  async read(url: string): Promise<Blob | undefined> {
    const key = this.#keyOf(url)
    return key ? this.#store.read(key) : undefined
  }

  async open(url: string): Promise<LocalFile | undefined> {
    const key = this.#keyOf(url)
    return key ? this.#store.open(key) : undefined
  }

  hold(content: Uint8Array): Promise<LocalFile> {
    return this.#store.hold(content)
  }

  async drafts(): Promise<FileDrafts<FileObject>> {
    const { folder, keep, discard } = await this.#store.drafts(this.#owner)
    return {
      folder,
      discard,
      keep: async (path, facts) => {
        const stored = await keep(path, facts)
        this.#files.push(stored)
        return stored.file
      },
    }
  }

  restore(file: FileObject): void {
    // The URL contains the key in every kind of storage. Only keys in this run's own folder are accepted.
    const folder = `${folderOf(this.#owner)}/`
    const at = file.url.indexOf(`/${folder}`)
    const [, rest] = /^([A-Za-z0-9-]+\/[A-Za-z0-9._-]+)(\?|$)/.exec(file.url.slice(at + 1 + folder.length)) ?? []
    if (at >= 0 && rest !== undefined) this.#files.push({ key: folder + rest, file })
  }

  #keyOf(url: string): string | null | undefined {
    return this.#files.find(({ file }) => file.url === url)?.key
  }
}
