import { element } from '../form/page-parts.ts'
import { type Message, type Remembered, recall, remember } from './conversation.ts'
import { awaitReply, type ChatFacts, fileItemOf, loadFacts, type Outcome, sendMessage } from './send-message.ts'

/** The chat page. It uses no framework, and shows everything people and models write as plain text. */

const identifier = decodeURIComponent(location.pathname.split('/')[2] ?? '')

class ChatPage {
  readonly #facts: ChatFacts
  readonly #conversation = element('conversation', HTMLElement)
  readonly #messages = element('messages', HTMLOListElement)
  readonly #notice = element('notice', HTMLElement)
  readonly #accessForm = element('access', HTMLFormElement)
  readonly #secret = element('secret', HTMLInputElement)
  readonly #composer = element('composer', HTMLFormElement)
  readonly #input = element('message', HTMLTextAreaElement)
  readonly #send = element('send', HTMLButtonElement)
  readonly #newChat = element('new-chat', HTMLButtonElement)
  readonly #attach = element('attach', HTMLInputElement)
  readonly #fileList = element('files', HTMLUListElement)
  #remembered: Remembered = recall(identifier)
  #files: File[] = []
  /** Aborts the reply that is being written. */
  #running: AbortController | undefined

  constructor(facts: ChatFacts) {
    this.#facts = facts
    const title = facts.title ?? 'Chat'
    document.title = title
    element('title', HTMLElement).textContent = title
    this.#listen()
    this.#showConversation()
    if (!facts.mayTalk && this.#remembered.secret === null) this.#askForAccess('')
    else this.#openComposer()
  }

  #listen(): void {
    this.#accessForm.addEventListener('submit', (event) => {
      event.preventDefault()
      this.#store({ secret: this.#secret.value })
      this.#secret.value = ''
      this.#openComposer()
    })
    this.#composer.addEventListener('submit', (event) => {
      event.preventDefault()
      if (this.#running) this.#running.abort()
      else void this.#submit()
    })
    this.#input.addEventListener('keydown', (event) => {
      // During text composition, Enter ends the composition.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      if (!this.#running) void this.#submit()
    })
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#running?.abort()
    })
    this.#newChat.addEventListener('click', () => {
      this.#running?.abort()
      this.#store({ conversationId: null, messages: [] })
      this.#showConversation()
      this.#input.focus()
    })
    this.#attach.addEventListener('change', () => {
      this.#files.push(...(this.#attach.files ?? []))
      this.#attach.value = ''
      this.#showFiles()
      this.#input.focus()
    })
  }

  /** Asks for the password or API key. */
  #askForAccess(notice: string): void {
    const isKey = this.#facts.access === 'key'
    element('access-label', HTMLElement).textContent = isKey ? 'API key' : 'Password'
    this.#secret.autocomplete = isKey ? 'off' : 'current-password'
    this.#composer.hidden = true
    this.#accessForm.hidden = false
    this.#notify(notice)
    this.#secret.focus()
  }

  #openComposer(): void {
    this.#accessForm.hidden = true
    this.#composer.hidden = false
    this.#notify('')
    this.#input.focus()
  }

  async #submit(): Promise<void> {
    const text = this.#input.value.trim()
    const files = this.#files
    if (text === '' && files.length === 0) return
    this.#input.value = ''
    this.#files = []
    this.#showFiles()
    this.#notify('')
    const shown = [text, ...files.map(({ name }) => `📎 ${name}`)].filter((line) => line !== '').join('\n')
    const question = this.#add('user', shown)
    const reply = this.#add('assistant', '')
    reply.row.dataset['state'] = 'waiting'
    this.#newChat.hidden = false
    const running = new AbortController()
    this.#running = running
    this.#send.textContent = 'Stop'
    const items = await Promise.all(files.map(fileItemOf))
    const { conversationId, secret } = this.#remembered
    const outcome = await sendMessage({
      ...{ identifier, access: this.#facts.access, secret, text, files: items, conversationId },
      signal: running.signal,
      onText: (said) => this.#write(reply, said),
    })
    this.#running = undefined
    this.#send.textContent = 'Send'
    // A new chat was started in the meantime.
    if (!reply.row.isConnected) return
    this.#finish(outcome, { text, files, shown, question, reply })
  }

  #finish(outcome: Outcome, { text, files, shown, question, reply }: Exchange): void {
    switch (outcome.kind) {
      case 'said':
        this.#write(reply, outcome.reply)
        this.#keepTurn(outcome.conversationId, shown, { role: 'assistant', text: outcome.reply })
        break
      case 'later': {
        const message = {
          role: 'assistant' as const,
          text: reply.text.textContent ?? '',
          executionId: outcome.executionId,
        }
        this.#keepTurn(outcome.conversationId, shown, message)
        void this.#showLater(reply, message)
        break
      }
      case 'unauthorized':
        question.row.remove()
        reply.row.remove()
        this.#restore(text, files)
        this.#store({ secret: null })
        this.#askForAccess(outcome.message)
        return
      case 'failed':
        this.#fail(reply, outcome.message, () => {
          question.row.remove()
          reply.row.remove()
          this.#restore(text, files)
          void this.#submit()
        })
        break
      case 'stopped':
        delete reply.row.dataset['state']
        if (reply.text.textContent === '') reply.row.remove()
        break
    }
    this.#input.focus()
  }

  #keepTurn(conversationId: string, said: string, reply: Message): void {
    const messages = [...this.#remembered.messages, { role: 'user' as const, text: said }, reply].slice(-messagesMax)
    this.#store({ conversationId, messages })
  }

  /** Shows the reply of a paused run when the run ends, even if the page is reloaded in the meantime. */
  async #showLater({ row, text }: Shown, { executionId = '', text: before }: Message): Promise<void> {
    row.dataset['state'] = 'later'
    text.textContent = [before, laterText].filter((part) => part !== '').join('\n\n')
    const { secret } = this.#remembered
    const ended = await awaitReply({ identifier, access: this.#facts.access, secret, executionId })
    // A new chat was started in the meantime.
    if (!row.isConnected) return
    const said = 'reply' in ended ? ended.reply : ended.error
    this.#write({ row, text }, said)
    if ('error' in ended) row.dataset['state'] = 'failed'
    const messages = this.#remembered.messages.map((message) =>
      message.executionId === executionId ? { role: message.role, text: said } : message,
    )
    this.#store({ messages })
  }

  #restore(text: string, files: File[]): void {
    this.#input.value = text
    this.#files = files
    this.#showFiles()
  }

  #fail({ row, text }: Shown, message: string, again: () => void): void {
    row.dataset['state'] = 'failed'
    text.textContent = message
    text.setAttribute('role', 'alert')
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'chat-again'
    button.textContent = 'Try again'
    button.addEventListener('click', again)
    row.append(button)
    this.#follow(true)
  }

  #showConversation(): void {
    const { greeting } = this.#facts
    const { messages } = this.#remembered
    this.#messages.replaceChildren()
    if (greeting !== null) this.#add('assistant', greeting)
    for (const message of messages) {
      const shown = this.#add(message.role, message.text)
      if (message.executionId !== undefined) void this.#showLater(shown, message)
    }
    this.#newChat.hidden = messages.length === 0
    this.#follow(true)
  }

  #showFiles(): void {
    this.#fileList.hidden = this.#files.length === 0
    this.#fileList.replaceChildren(
      ...this.#files.map((file) => {
        const row = document.createElement('li')
        const button = document.createElement('button')
        button.type = 'button'
        button.textContent = `${file.name} ✕`
        button.setAttribute('aria-label', `Remove ${file.name}`)
        button.addEventListener('click', () => {
          this.#files = this.#files.filter((each) => each !== file)
          this.#showFiles()
          this.#input.focus()
        })
        row.append(button)
        return row
      }),
    )
  }

  #add(role: 'user' | 'assistant', said: string): Shown {
    const row = document.createElement('li')
    row.className = 'chat-message'
    row.dataset['role'] = role
    const who = document.createElement('span')
    who.className = 'visually-hidden'
    who.textContent = role === 'user' ? 'You: ' : 'Assistant: '
    const text = document.createElement('div')
    text.className = 'chat-text'
    text.textContent = said
    row.append(who, text)
    this.#messages.append(row)
    this.#follow(true)
    return { row, text }
  }

  #write({ row, text }: Shown, said: string): void {
    const isFollowing =
      this.#conversation.scrollHeight - this.#conversation.scrollTop - this.#conversation.clientHeight < followPx
    delete row.dataset['state']
    text.textContent = said
    this.#follow(isFollowing)
  }

  /** Scrolls to the end, unless the reader has scrolled away from it. */
  #follow(isFollowing: boolean): void {
    if (isFollowing) this.#conversation.scrollTop = this.#conversation.scrollHeight
  }

  #notify(notice: string): void {
    this.#notice.textContent = notice
    this.#notice.hidden = notice === ''
  }

  #store(changed: Partial<Remembered>): void {
    this.#remembered = { ...this.#remembered, ...changed }
    remember(identifier, this.#remembered)
  }
}

/** A message on the page. */
type Shown = { row: HTMLElement; text: HTMLElement }

type Exchange = { text: string; files: File[]; shown: string; question: Shown; reply: Shown }

/** Distance from the end, in pixels, that still counts as being at the end. */
const followPx = 80
const messagesMax = 400
const laterText = 'The reply takes longer, for example because a person must answer first. It will appear here.'

async function start(): Promise<void> {
  const notice = element('notice', HTMLElement)
  try {
    const facts = await loadFacts(identifier)
    if (facts) {
      new ChatPage(facts)
      return
    }
    notice.textContent = 'No chat was found at this URL.'
  } catch {
    notice.textContent = 'The chat could not be loaded. Reload the page to try again.'
  }
  notice.hidden = false
}

void start()
