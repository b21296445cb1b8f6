"""The files methods: announce, upload, share."""

from __future__ import annotations

from deploy.sandbox.slack.arguments import Args
from deploy.sandbox.slack.chat import Content, new_message
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.method import Method
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.state import State, StoredFile

FILE_BYTES_MAX = 50_000_000


def _get_url(state: State, args: Args) -> Json:
    name, length = args.required("filename"), args.number("length", 0)
    if length <= 0:
        raise SlackApiProblem("missing_argument")
    if length > FILE_BYTES_MAX:
        raise SlackApiProblem("file_upload_size_restricted")
    file = StoredFile(id=state.next_id("F"), name=name, length=length)
    state.files[file.id] = file
    return {"upload_url": f"{state.base_url}/upload/{file.id}", "file_id": file.id}


def receive_upload(state: State, file_id: str, content: bytes) -> str | None:
    """Take the bytes of an announced file; return what is wrong with them, if any."""
    with state.lock:
        file = state.files.get(file_id)
        if file is None or file.content is not None:
            return "file_not_found"
        if len(content) != file.length:
            return "length_mismatch"
        file.content = content
        state.touch()
        return None


def file_body(file: StoredFile) -> Json:
    """Return a file as the Web API shows it."""
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title or file.name,
        "size": file.length,
        "filetype": file.name.rpartition(".")[2],
        "mode": "hosted",
    }


def _complete(state: State, args: Args) -> Json:
    wanted = args.items("files", "invalid_arguments") or []
    files: list[StoredFile] = []
    for item in wanted:
        file = state.files.get(str(item.get("id")))
        if file is None or file.content is None:
            raise SlackApiProblem("file_not_found")
        file.title = str(item.get("title") or "")
        files.append(file)
    if args.has("channel_id"):
        channel = state.directory.writable(args.text("channel_id"), by_person=True)
        message = new_message(
            state,
            channel,
            Content(text=args.text("initial_comment")),
            files=[file_body(file) for file in files],
            thread_ts=args.text("thread_ts") or None,
        )
        state.add_message(message)
        for file in files:
            file.shared_in.append(channel.id)
    return {"files": [file_body(file) for file in files]}


_WRITE = ("files:write",)

METHODS = {
    "files.completeUploadExternal": Method(handler=_complete, scopes=_WRITE),
    "files.getUploadURLExternal": Method(handler=_get_url, scopes=_WRITE),
}
