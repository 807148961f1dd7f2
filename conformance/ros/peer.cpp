// A participant of Fast DDS, the DDS below rmw_fastrtps, that speaks to pliant in raw CDR. It knows no types: a message
// is its bytes, so that what is on the wire is what is tested.
//
//   peer DOMAIN listen TOPIC TYPE COUNT SECONDS     receive COUNT messages; print how many, their stamps' gaps, the last
//   peer DOMAIN drive STATE COMMAND JOINTS COUNT    answer each JointState by a Float64MultiArray; print latencies
//   peer DOMAIN send COMMAND JOINTS COUNT HZ [WAIT]  send COUNT Float64MultiArray at a rate, WAIT ms after the match
//   peer DOMAIN graph SECONDS                       print the endpoints and nodes that discovery tells
//   peer DOMAIN call NAME REQUEST RESPONSE HEX COUNT  call a service as rmw_fastrtps does; HEX is the request's CDR
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<unsigned char>;

class RawType : public TopicDataType {
public:
    explicit RawType(const std::string& name) {
        setName(name.c_str());
        m_typeSize = 1 << 12;
        m_isGetKeyDefined = false;
    }
    bool serialize(void* data, SerializedPayload_t* payload) override {
        const Bytes& bytes = *static_cast<Bytes*>(data);
        payload->encapsulation = CDR_LE;
        payload->length = static_cast<uint32_t>(bytes.size());
        std::memcpy(payload->data, bytes.data(), bytes.size());
        return true;
    }
    bool deserialize(SerializedPayload_t* payload, void* data) override {
        static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
    }
    void* createData() override { return new Bytes; }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, InstanceHandle_t*, bool) override { return false; }
};

struct Seen {
    std::mutex lock;
    std::set<std::string> endpoints;
    std::set<std::string> hashes;
};

class Discovery : public DomainParticipantListener {
public:
    explicit Discovery(Seen& seen) : seen_(seen) {}
    void on_publisher_discovery(DomainParticipant*, eprosima::fastrtps::rtps::WriterDiscoveryInfo&& info) override {
        std::lock_guard<std::mutex> hold(seen_.lock);
        seen_.endpoints.insert(std::string("writer ") + info.info.topicName().c_str() + " " +
                               info.info.typeName().c_str());
        auto data = info.info.m_qos.m_userData.dataVec();
        if (!data.empty())
            seen_.hashes.insert(std::string(info.info.topicName().c_str()) + " " +
                                std::string(data.begin(), data.end()));
    }
    void on_subscriber_discovery(DomainParticipant*, eprosima::fastrtps::rtps::ReaderDiscoveryInfo&& info) override {
        std::lock_guard<std::mutex> hold(seen_.lock);
        seen_.endpoints.insert(std::string("reader ") + info.info.topicName().c_str() + " " +
                               info.info.typeName().c_str());
    }

private:
    Seen& seen_;
};

class Inbox : public DataReaderListener {
public:
    std::function<void(const Bytes&)> act;
    std::atomic<int> matched{0};
    void on_data_available(DataReader* reader) override {
        Bytes bytes;
        SampleInfo info;
        while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK)
            if (info.valid_data) act(bytes);
    }
    void on_requested_incompatible_qos(DataReader*, const RequestedIncompatibleQosStatus& status) override {
        std::fprintf(stderr, "incompatible quality of service, policy %d\n", int(status.last_policy_id));
    }
    void on_subscription_matched(DataReader*, const SubscriptionMatchedStatus& status) override {
        matched = status.current_count;
    }
};

struct Peer {
    Seen seen;
    Discovery discovery{seen};
    DomainParticipant* participant;
    Publisher* publisher;
    Subscriber* subscriber;

    explicit Peer(int domain) {
        DomainParticipantQos qos;
        qos.name("fastdds_peer");
        // UDP on the loopback interface alone: no shared memory, no other interface.
        auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
        udp->interfaceWhiteList.push_back("127.0.0.1");
        qos.transport().use_builtin_transports = false;
        qos.transport().user_transports.push_back(udp);
        eprosima::fastrtps::rtps::Locator_t locator;
        for (int i = 0; i < 8; ++i) {  // unicast discovery: the first ports of the domain on this machine
            eprosima::fastrtps::rtps::IPLocator::setIPv4(locator, 127, 0, 0, 1);
            locator.port = 7400 + 250 * domain + 10 + 2 * i;
            qos.wire_protocol().builtin.initialPeersList.push_back(locator);
        }
        participant = DomainParticipantFactory::get_instance()->create_participant(
            domain, qos, &discovery, StatusMask::none());  // discovery calls come all the same
        if (participant == nullptr) {
            std::fprintf(stderr, "no participant\n");
            std::exit(2);
        }
        publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
        subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    }
    void close() {  // before what the listeners use goes away
        if (participant == nullptr) return;
        participant->delete_contained_entities();
        DomainParticipantFactory::get_instance()->delete_participant(participant);
        participant = nullptr;
    }
    ~Peer() { close(); }
    Topic* topic(const std::string& name, const std::string& type) {
        TypeSupport support(new RawType(type));
        support.register_type(participant);
        return participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
    }
    DataReader* reader(const std::string& name, const std::string& type, Inbox& inbox, bool transient = false) {
        DataReaderQos qos;
        qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
        qos.history().kind = KEEP_LAST_HISTORY_QOS;
        qos.history().depth = 5000;
        qos.resource_limits().max_instances = 1;
        qos.resource_limits().max_samples = 5000;
        qos.resource_limits().max_samples_per_instance = 5000;
        qos.endpoint().history_memory_policy =
            eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        if (transient) qos.durability().kind = TRANSIENT_LOCAL_DURABILITY_QOS;
        DataReader* made = subscriber->create_datareader(topic(name, type), qos, &inbox);
        if (made == nullptr) {
            std::fprintf(stderr, "no reader of %s\n", name.c_str());
            std::exit(2);
        }
        return made;
    }
    DataWriter* writer(const std::string& name, const std::string& type) {
        DataWriterQos qos;
        qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
        qos.history().kind = KEEP_LAST_HISTORY_QOS;
        qos.history().depth = 1000;
        qos.resource_limits().max_instances = 1;
        qos.resource_limits().max_samples = 1000;
        qos.resource_limits().max_samples_per_instance = 1000;
        return publisher->create_datawriter(topic(name, type), qos);
    }
};

static Bytes command(const std::vector<double>& values) {
    // Encapsulation, layout (no dimension, offset 0), length, padding to 8, numbers.
    Bytes bytes = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    uint32_t count = static_cast<uint32_t>(values.size());
    bytes.resize(16);
    std::memcpy(bytes.data() + 12, &count, 4);
    while ((bytes.size() - 4) % 8) bytes.push_back(0);
    size_t at = bytes.size();
    bytes.resize(at + 8 * values.size());
    std::memcpy(bytes.data() + at, values.data(), 8 * values.size());
    return bytes;
}

static int64_t stamp_of(const Bytes& bytes) {
    int32_t sec;
    uint32_t nanosec;
    std::memcpy(&sec, bytes.data() + 4, 4);
    std::memcpy(&nanosec, bytes.data() + 8, 4);
    return int64_t(sec) * 1000000000 + nanosec;
}

static void wait_for(const std::atomic<int>& value, int wanted, double seconds) {
    auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (value < wanted && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

static int listen(Peer& peer, char** args) {
    const std::string name = args[0], type = args[1];
    const int count = std::atoi(args[2]);
    const double seconds = std::atof(args[3]);
    std::atomic<int> got{0};
    int64_t first = -1, last = -1, gaps = 0, step = 0, backward = 0;
    Bytes final_message;
    Inbox inbox;
    inbox.act = [&](const Bytes& bytes) {
        if (got >= count) return;
        int64_t stamp = bytes.size() >= 12 ? stamp_of(bytes) : 0;
        if (first < 0) first = stamp;
        if (last >= 0) {
            if (step == 0 && stamp > last) step = stamp - last;
            if (stamp <= last) ++backward;
            else if (step && stamp != last + step) gaps += (stamp - last) / step - 1;
        }
        last = stamp;
        final_message = bytes;
        ++got;
    };
    peer.reader(name, type, inbox, name == "ros_discovery_info");
    wait_for(got, count, seconds);
    peer.close();
    std::printf("{\"received\": %d, \"missing\": %lld, \"backward\": %lld, \"last\": \"", got.load(), (long long)gaps,
                (long long)backward);
    for (unsigned char c : final_message) std::printf("%02x", c);
    std::printf("\"}\n");
    return 0;
}

static int drive(Peer& peer, char** args) {
    const std::string state = args[0], target = args[1];
    const int joints = std::atoi(args[2]), count = std::atoi(args[3]);
    DataWriter* writer = peer.writer(target, "std_msgs::msg::dds_::Float64MultiArray_");
    std::atomic<int> got{0};
    std::vector<double> latencies;
    Clock::time_point sent{};
    uint64_t digest = 1469598103934665603ull;
    Inbox inbox;
    Clock::time_point begin{};
    int64_t backward = 0, gaps = 0, last = -1;
    inbox.act = [&](const Bytes& bytes) {
        auto now = Clock::now();
        if (got >= count) return;
        if (got == 0) begin = now;
        if (sent.time_since_epoch().count()) latencies.push_back(std::chrono::duration<double>(now - sent).count());
        int64_t stamp = stamp_of(bytes);
        const bool again = stamp == last;  // until the first answer the first state is sent again and again
        if (!again)
            for (unsigned char c : bytes) digest = (digest ^ c) * 1099511628211ull;
        if (last >= 0 && stamp < last) ++backward;
        if (last >= 0 && !again && stamp - last != 1000000) ++gaps;
        last = stamp;
        // The positions begin behind the names; the last 3 blocks of the message are position, velocity, effort.
        size_t block = 8 * joints, tail = bytes.size();
        std::vector<double> q(joints), reference(joints);
        size_t effort = tail - block, velocity = effort - 8 - block, position = velocity - 8 - block;
        std::memcpy(q.data(), bytes.data() + position, block);
        for (int i = 0; i < joints; ++i) reference[i] = 0.3 - 0.2 * q[i];
        Bytes answer = command(reference);
        sent = Clock::now();
        writer->write(&answer);
        if (!again) ++got;
    };
    peer.reader(state, "sensor_msgs::msg::dds_::JointState_", inbox);
    PublicationMatchedStatus status;
    auto end = Clock::now() + std::chrono::seconds(20);
    do {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        writer->get_publication_matched_status(status);
    } while ((status.current_count == 0 || inbox.matched == 0) && Clock::now() < end);
    wait_for(got, count, 60.0);
    double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    peer.close();
    std::sort(latencies.begin(), latencies.end());
    auto at = [&](double f) { return latencies.empty() ? 0.0 : 1e6 * latencies[size_t(f * (latencies.size() - 1))]; };
    std::printf("{\"received\": %d, \"gaps\": %lld, \"backward\": %lld, \"digest\": \"%016llx\", \"p50_us\": %.1f, "
                "\"p99_us\": %.1f, \"max_us\": %.1f, \"rtf\": %.3f}\n",
                got.load(), (long long)gaps, (long long)backward, (unsigned long long)digest, at(0.5), at(0.99),
                at(1.0), got * 1e-3 / wall);
    return 0;
}

static int send(Peer& peer, char** args, int wait_ms) {
    const int joints = std::atoi(args[1]), count = std::atoi(args[2]);
    const double rate = std::atof(args[3]);
    DataWriter* writer = peer.writer(args[0], "std_msgs::msg::dds_::Float64MultiArray_");
    PublicationMatchedStatus status;
    auto end = Clock::now() + std::chrono::seconds(60);
    do {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        writer->get_publication_matched_status(status);
    } while (status.current_count == 0 && Clock::now() < end);
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    auto begin = Clock::now();
    int sent = 0;
    for (int i = 0; i < count; ++i) {
        Bytes bytes = command(std::vector<double>(joints, 0.3 * (i + 1) / count));
        if (writer->write(&bytes)) ++sent;
        std::this_thread::sleep_until(begin + std::chrono::duration<double>((i + 1) / rate));
    }
    writer->wait_for_acknowledgments({5, 0});
    std::printf("{\"sent\": %d}\n", sent);
    return 0;
}

// rmw_fastrtps' convention: the request names the reader that waits, beside the data; the reply names that reader and
// the number of the request, beside the data too.
static int call(Peer& peer, char** args) {
    const std::string name = args[0], hex = args[3];
    const int count = std::atoi(args[4]);
    Bytes request;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        request.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    class Replies : public DataReaderListener {
    public:
        eprosima::fastrtps::rtps::GUID_t own;
        std::atomic<int> matched{0}, answered{0};
        std::atomic<uint64_t> number{0};
        int foreign = 0;
        Bytes last;
        void on_data_available(DataReader* reader) override {
            Bytes bytes;
            SampleInfo info;
            while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
                if (!info.valid_data) continue;
                if (info.related_sample_identity.writer_guid() != own) {
                    ++foreign;
                    continue;
                }
                last = bytes;
                number = info.related_sample_identity.sequence_number().to64long();
                ++answered;
            }
        }
        void on_subscription_matched(DataReader*, const SubscriptionMatchedStatus& status) override {
            matched = status.current_count;
        }
    } replies;
    DataReaderQos reader_qos;
    reader_qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    reader_qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    DataReader* reader =
        peer.subscriber->create_datareader(peer.topic("rr/" + name + "Reply", args[2]), reader_qos, &replies);
    replies.own = reader->guid();
    DataWriter* writer = peer.writer("rq/" + name + "Request", args[1]);
    PublicationMatchedStatus status;
    auto begin = Clock::now(), end = begin + std::chrono::seconds(40);
    do {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        writer->get_publication_matched_status(status);
    } while ((status.current_count == 0 || replies.matched == 0) && Clock::now() < end);
    double found = std::chrono::duration<double>(Clock::now() - begin).count();
    std::vector<double> times;
    int right = 0;
    for (int i = 0; i < count; ++i) {
        eprosima::fastrtps::rtps::WriteParams params;
        params.related_sample_identity().writer_guid(reader->guid());
        auto sent = Clock::now();
        if (!writer->write(&request, params)) break;
        wait_for(replies.answered, i + 1, 20.0);
        if (replies.answered < i + 1) break;
        times.push_back(std::chrono::duration<double>(Clock::now() - sent).count());
        if (replies.number == params.sample_identity().sequence_number().to64long()) ++right;
    }
    peer.close();
    std::sort(times.begin(), times.end());
    std::printf("{\"answered\": %d, \"paired\": %d, \"foreign\": %d, \"found_s\": %.3f, \"p50_us\": %.1f, \"last\": \"",
                replies.answered.load(), right, replies.foreign, found, times.empty() ? 0.0 : 1e6 * times[times.size() / 2]);
    for (unsigned char c : replies.last) std::printf("%02x", c);
    std::printf("\"}\n");
    return 0;
}

static int graph(Peer& peer, char** args) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(args[0])));
    std::lock_guard<std::mutex> hold(peer.seen.lock);
    std::printf("{\"endpoints\": [");
    const char* comma = "";
    for (const auto& item : peer.seen.endpoints) {
        std::printf("%s\"%s\"", comma, item.c_str());
        comma = ", ";
    }
    std::printf("], \"hashes\": [");
    comma = "";
    for (const auto& item : peer.seen.hashes) {
        std::printf("%s\"%s\"", comma, item.c_str());
        comma = ", ";
    }
    std::printf("]}\n");
    return 0;
}

int main(int argc, char** argv) {
    if (std::getenv("PEER_LOG")) Log::SetVerbosity(Log::Kind::Info);
    if (argc < 4) return 2;
    Peer peer(std::atoi(argv[1]));
    const std::string what = argv[2];
    if (what == "listen" && argc == 7) return listen(peer, argv + 3);
    if (what == "drive" && argc == 7) return drive(peer, argv + 3);
    if (what == "send" && argc == 7) return send(peer, argv + 3, 200);
    if (what == "send" && argc == 8) return send(peer, argv + 3, std::atoi(argv[7]));
    if (what == "call" && argc == 8) return call(peer, argv + 3);
    if (what == "graph" && argc == 4) return graph(peer, argv + 3);
    return 2;
}
