import { textOf } from '../../sim-document.ts'
import { fixed, flag, from, json, list, number, type Read, text } from '../read.ts'
import type { RequestRule, ServiceRules } from '../rule.ts'

const repository = { owner: text('owner'), repo: text('repo') }
const issue = number('issue_number', 'issueNumber')
const pull = number('pullNumber', 'pull_number')
const asData = { metadata: 'data', '*': 'data' }
const asItems = { items: 'data', count: 'data.length' }
const api = 'https://api.github.com'

function read(path: string, more: Partial<RequestRule> = {}): RequestRule {
  return {
    method: 'GET',
    url: `${api}/repos/{owner}/{repo}${path}`,
    outputs: asData,
    ...more,
    path: { ...repository, ...more.path },
  }
}
function readList(path: string, more: Partial<RequestRule> = {}): RequestRule {
  return read(path, { outputs: { items: 'data' }, ...more, query: { per_page: number('per_page'), ...more.query } })
}
function send(method: RequestRule['method'], path: string, more: Partial<RequestRule>): RequestRule {
  return { ...read(path, more), method }
}
function find(what: string): RequestRule {
  return {
    method: 'GET',
    url: `${api}/search/${what}`,
    query: { q: text('q'), sort: from('sort'), order: from('order'), per_page: number('per_page') },
    asks: ['q'],
    outputs: { metadata: 'data', '*': 'data' },
  }
}

const onIssue = { ...repository, number: issue }
const labels = list('labels')
const pullPath: Readonly<Record<string, Read>> = { number: pull }

export const github: ServiceRules = {
  types: ['github', 'github_v2'],
  service: 'GitHub',
  connector: 'github',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'github_pr',
  operations: {
    github_list_issues: {
      operation: 'listIssues',
      params: { ...repository, state: from('state'), labels, per_page: number('per_page') },
      outputs: asItems,
    },
    github_get_issue: { operation: 'getIssue', params: onIssue, outputs: asData },
    github_create_issue: {
      operation: 'createIssue',
      params: { ...repository, title: text('title'), body: text('body'), labels, assignees: list('assignees') },
      outputs: asData,
    },
    github_update_issue: {
      operation: 'updateIssue',
      params: {
        ...onIssue,
        title: text('title'),
        body: text('body'),
        state: from('state'),
        labels,
        assignees: list('assignees'),
      },
      outputs: asData,
    },
    github_close_issue: { operation: 'updateIssue', params: { ...onIssue, state: fixed('closed') }, outputs: asData },
    github_issue_comment: {
      operation: 'commentIssue',
      params: { ...onIssue, body: text('body') },
      outputs: asData,
    },
    github_comment: {
      operation: 'commentIssue',
      params: { ...repository, number: pull, body: text('body') },
      outputs: asData,
      needs: (values) =>
        textOf(values.peek('commentType')) === 'file_comment'
          ? 'an operation of GitHub that comments on a line of a file'
          : undefined,
    },
    github_list_prs: {
      operation: 'listPullRequests',
      params: { ...repository, state: from('state'), base: from('base') },
      outputs: asItems,
    },
    github_search_issues: { operation: 'searchIssues', params: { q: text('q') }, outputs: { items: 'data' } },
    github_get_file_content: {
      operation: 'readFile',
      params: { ...repository, path: text('path'), ref: from('ref') },
      outputs: asData,
      notes: ['The content is in base64.'],
    },
    github_create_file: {
      operation: 'writeFile',
      params: {
        ...repository,
        path: text('path'),
        message: text('message'),
        content: text('content'),
        branch: from('branch'),
      },
      outputs: asData,
    },
    github_update_file: {
      operation: 'writeFile',
      params: {
        ...repository,
        path: text('path'),
        message: text('message'),
        content: text('content'),
        sha: from('sha'),
        branch: from('branch'),
      },
      outputs: asData,
    },
    github_create_release: {
      operation: 'createRelease',
      params: {
        ...repository,
        tag_name: text('tag_name'),
        name: text('name'),
        body: text('body'),
        draft: flag('draft'),
        prerelease: flag('prerelease'),
      },
      outputs: asData,
    },
    github_trigger_workflow: {
      operation: 'runWorkflow',
      params: { ...repository, workflow: text('workflow_id'), ref: text('ref'), inputs: json('inputs') },
    },
    github_pr: read('/pulls/{number}', { path: pullPath }),
    github_get_pr_files: readList('/pulls/{number}/files', { path: pullPath }),
    github_list_pr_comments: readList('/pulls/{number}/comments', { path: pullPath }),
    github_list_issue_comments: readList('/issues/{number}/comments', { path: { number: issue } }),
    github_repo_info: read(''),
    github_latest_commit: read('/commits/{ref}', { path: { ref: (values) => from('branch')(values) ?? 'HEAD' } }),
    github_list_commits: readList('/commits', { query: { sha: from('sha'), since: from('since') } }),
    github_get_commit: read('/commits/{ref}', { path: { ref: text('ref') } }),
    github_list_branches: readList('/branches'),
    github_list_releases: readList('/releases'),
    github_get_latest_release: read('/releases/latest'),
    github_get_release: read('/releases/{release_id}', { path: { release_id: text('release_id') } }),
    github_get_readme: read('/readme'),
    github_list_tags: readList('/tags'),
    github_add_labels: send('POST', '/issues/{number}/labels', { path: { number: issue }, body: { labels } }),
    github_add_assignees: send('POST', '/issues/{number}/assignees', {
      path: { number: issue },
      body: { assignees: list('assignees') },
    }),
    github_create_pr: send('POST', '/pulls', {
      asks: ['owner', 'repo', 'title', 'head', 'base', 'body'],
      body: {
        title: text('title'),
        head: text('head'),
        base: text('base'),
        body: text('body'),
        draft: flag('draft'),
      },
    }),
    github_update_pr: send('PATCH', '/pulls/{number}', {
      path: pullPath,
      body: { title: text('title'), body: text('body'), state: from('state'), base: from('base') },
    }),
    github_close_pr: send('PATCH', '/pulls/{number}', { path: pullPath, body: { state: fixed('closed') } }),
    github_merge_pr: send('PUT', '/pulls/{number}/merge', {
      path: pullPath,
      body: {
        merge_method: from('merge_method'),
        commit_title: text('commit_title'),
        commit_message: text('commit_message'),
      },
    }),
    github_request_reviewers: send('POST', '/pulls/{number}/requested_reviewers', {
      path: pullPath,
      body: { reviewers: list('reviewers'), team_reviewers: list('team_reviewers') },
    }),
    github_search_code: find('code'),
    github_search_commits: find('commits'),
    github_search_repos: find('repositories'),
    github_search_users: find('users'),
  },
}

const project = { id: text('projectId') }
const inProject = { ...project, issue_iid: number('issueIid') }

export const gitlab: ServiceRules = {
  types: ['gitlab'],
  service: 'GitLab',
  connector: 'gitlab',
  credential: { kind: 'header', secrets: ['accessToken'] },
  credentialNotes: (values) => {
    const host = textOf(text('host')(values))
    return host === ''
      ? []
      : [`The base URL of the GitLab credential is ${host.includes('//') ? host : `https://${host}`}.`]
  },
  usual: 'gitlab_list_projects',
  operations: {
    gitlab_list_projects: {
      operation: 'listProjects',
      params: { search: text('search'), membership: flag('membership'), per_page: number('perPage') },
      outputs: { projects: 'data' },
    },
    gitlab_list_issues: {
      operation: 'listIssues',
      params: {
        ...project,
        state: (values) => (values.take('issueState') === 'all' ? undefined : values.peek('issueState')),
        labels,
        search: text('search'),
      },
      outputs: { issues: 'data' },
    },
    gitlab_create_issue: {
      operation: 'createIssue',
      params: {
        ...project,
        title: text('title'),
        description: text('description'),
        labels,
        assignee_ids: list('assigneeIds'),
        due_date: from('dueDate'),
      },
      outputs: { issue: 'data' },
    },
    gitlab_update_issue: {
      operation: 'updateIssue',
      params: {
        ...inProject,
        title: text('title'),
        description: text('description'),
        state_event: from('stateEvent'),
        labels,
      },
      outputs: { issue: 'data' },
    },
    gitlab_create_issue_note: {
      operation: 'commentIssue',
      params: { ...inProject, body: text('body') },
      outputs: { note: 'data' },
    },
    gitlab_list_merge_requests: {
      operation: 'listMergeRequests',
      params: {
        ...project,
        state: (values) => (values.take('mrState') === 'all' ? undefined : values.peek('mrState')),
      },
      outputs: { mergeRequests: 'data' },
    },
    gitlab_create_pipeline: {
      operation: 'runPipeline',
      params: { ...project, ref: text('ref'), variables: json('variables') },
      outputs: { pipeline: 'data' },
    },
    gitlab_get_file: {
      operation: 'readFile',
      params: { ...project, file_path: text('filePath'), ref: from('ref') },
      outputs: { content: 'data' },
    },
  },
}
