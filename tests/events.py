"""Events of a board's line (docs/SERIAL.md), over pipes, a device's socket or a WebSocket."""


class Events:
    """Mixin for a class with put(**request) and event(), which returns None at the end."""

    def until(self, *kinds):
        """The events up to and including the first of a kind, by default `done`. If it does not come, the last
        element is None."""
        events = []
        while not events or (events[-1] is not None and events[-1]["event"] not in (kinds or ("done",))):
            events.append(self.event())
        return events

    def ask(self, **request):
        """The events that answer a request."""
        self.put(**request)
        return self.until()


def of(events, kind):
    return [e for e in events if e is not None and e["event"] == kind]


def text_of(events):
    return "".join(e["text"] for e in of(events, "token"))
